// Compresses a file on all cores, and goes on when one of its processes is lost.
//
//     bzip2_app [--workers W] [-f] IN OUT
//     piracema run -n 4 bzip2_app IN OUT
//
// The output is what bunzip2 reads: one bzip2 stream for each block, in the order of the input.
#include <bzlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <piracema/piracema.h>

using namespace piracema;
using Chunk = std::vector<char>;

constexpr std::size_t block_bytes = 900'000;

Chunk compress(const Chunk& block) {
  Chunk packed(block.size() + block.size() / 100 + 600);  // The bzip2 manual, section 3.5.1.
  auto packed_bytes = static_cast<unsigned>(packed.size());
  const int code = BZ2_bzBuffToBuffCompress(packed.data(), &packed_bytes,
                                            const_cast<char*>(block.data()),  // It only reads.
                                            static_cast<unsigned>(block.size()), 9, 0, 0);
  if (code != BZ_OK) throw std::runtime_error("bzip2 failed with code " + std::to_string(code));
  packed.resize(packed_bytes);
  return packed;
}

// A .bz2 file has at least one stream, even that of an empty file.
struct Bz2File : FileSink<Chunk> {
  using FileSink::FileSink;
  void finish() {
    Chunk nothing;
    nothing.reserve(1);  // bzip2 wants an address even then.
    if (length() == 0) (*this)(compress(nothing));
    FileSink::finish();
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

  return run(pipeline(source("read", FileBlocks(in, block_bytes)),
                      farm("compress", workers, compress).ordered(),
                      sink("write", Bz2File(out, overwrite))));
}
