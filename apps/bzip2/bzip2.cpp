// Compresses a file on all cores, and goes on when one of its processes is lost.
//
//     bzip2_app [--workers W] [-f] IN OUT
//     piracema run -n 4 bzip2_app IN OUT
//
// The output is what bunzip2 reads: one bzip2 stream for each block, in the order of the input.
#include "bzip2.h"

#include <piracema/piracema.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "../common/times.h"

using namespace piracema;
using Chunk = std::vector<char>;

struct Blocks : FileBlocks {
  using FileBlocks::FileBlocks;
  void start(const Context& context) {
    FileBlocks::start(context);
    apps::started();
  }
};

// A .bz2 file has at least one stream, even that of an empty file.
struct Bz2File : FileSink<Chunk> {
  using FileSink::FileSink;
  std::uint64_t blocks = 0;

  void operator()(const Chunk& packed) {
    FileSink::operator()(packed);
    blocks += 1;
  }
  void finish() {
    if (length() == 0) (*this)(apps::compress(Chunk()));
    FileSink::finish();
    apps::ended(blocks);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    FileSink::serialize(archive);
    archive(blocks);
  }
};

int main(int argc, char** argv) {
  CLI::App options("Compresses a file in blocks of 900 kB that any bunzip2 reads.");
  std::string in, out;
  std::uint32_t workers = std::max(1u, std::thread::hardware_concurrency());
  bool overwrite = false;
  options.name("bzip2_app");
  options.add_option("IN", in, "File to compress")->required()->type_name("");
  options.add_option("OUT", out, "File to write")->required()->type_name("");
  options.add_option("-w,--workers", workers, "Replicas that compress; default: one a core")
      ->type_name("N");
  options.add_flag("-f,--force", overwrite, "Replace OUT if it exists");
  try {
    options.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return options.exit(error);  // Help.
    std::fprintf(stderr, "bzip2_app: error: %s; see --help\n", error.what());
    return 2;
  }

  return run(pipeline(source("read", Blocks(in, apps::block_bytes)),
                      farm("compress", workers, apps::compress<Chunk>).ordered(),
                      sink("write", Bz2File(out, overwrite))));
}
