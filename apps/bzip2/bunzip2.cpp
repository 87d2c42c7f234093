// Decompresses a .bz2 file on all cores, and goes on when one of its processes is lost.
//
//     bunzip2_app WORKERS IN OUT
//     piracema run -n 4 bunzip2_app WORKERS IN OUT
//
// Any .bz2 file will do: its blocks are found wherever they begin.
#include "bunzip2.h"

#include <piracema/piracema.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "../common/times.h"

using namespace piracema;
using Chunk = std::vector<char>;

struct Blocks {
  std::string path;
  apps::PackedBlocks::Place place;
  std::shared_ptr<apps::PackedBlocks> blocks;

  void start(const Context&) {
    blocks = std::make_shared<apps::PackedBlocks>(path, place);
    apps::started();
  }
  std::optional<Chunk> operator()() {
    Chunk block;
    if (!blocks->next(block)) return std::nullopt;
    place = blocks->place();
    return block;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(place);
  }
};

Chunk decompress(const Chunk& packed) {
  Chunk block;
  apps::decompress({packed.data(), packed.size()}, block);
  return block;
}

struct Write : FileSink<Chunk> {
  using FileSink::FileSink;
  std::uint64_t blocks = 0;

  void operator()(const Chunk& block) {
    FileSink::operator()(block);
    blocks += 1;
  }
  void finish() {
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
  const int workers = argc == 4 ? std::atoi(argv[1]) : 0;
  if (workers < 1) {
    std::fprintf(stderr, "usage: bunzip2_app WORKERS IN OUT\n");
    return 2;
  }
  return run(pipeline(source("read", Blocks{.path = argv[2]}),
                      farm("decompress", static_cast<std::uint32_t>(workers), decompress).ordered(),
                      sink("write", Write(argv[3]))));
}
