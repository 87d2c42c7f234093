// bzip2 decompression with the operator interface of paper 000 (its section 5).
//
//     bunzip2_operators WORKERS IN OUT
//     piracema run -n 4 bunzip2_operators WORKERS IN OUT     or mpirun -n 4 …
//
// OUT is replaced. Any .bz2 file will do: its blocks are found wherever they begin.
#include <piracema/operators.h>

#include <cstdio>
#include <cstdlib>

#include "../common/placed_output.h"
#include "../common/times.h"
#include "bunzip2.h"

using namespace piracema::operators;
using Place = apps::PackedBlocks::Place;

class Read : public ISourceOperator {
 public:
  explicit Read(std::string path) : path_(std::move(path)) {}

  // Each message is a block; the last one is empty, and says that there are no more.
  void onProduce() override {
    auto number = value_of<std::uint64_t>("next");
    if (number == 0) apps::started();
    apps::PackedBlocks blocks(path_, value_of<Place>("place"));
    for (bool is_end = value_of<bool>("is end"); !is_end; ++number) {
      std::string block;
      is_end = !blocks.next(block);
      keyStore::store("next", number + 1);
      keyStore::store("place", blocks.place());
      keyStore::store("is end", is_end);
      Emit(number, block);
    }
  }

 private:
  template <class T>
  static T value_of(const char* key) {
    return keyStore::contains(key) ? keyStore::retrieve<T>(key) : T{};
  }
  std::string path_;
};

class Decompress : public IMiddleOperator {
 public:
  void onReceive(const Message& packed) override {
    std::string block;
    if (!packed.value.empty()) apps::decompress(packed.value, block);
    Emit(block);
  }
};

class Write : public ISinkOperator {
 public:
  explicit Write(std::string path) : out_(std::move(path)) {}

  void onReceive(const Message& block) override {
    const auto length =
        keyStore::contains("length") ? keyStore::retrieve<std::uint64_t>("length") : 0;
    out_.write_at(length, block.value);
    keyStore::store("length", length + block.value.size());
    if (block.value.empty()) apps::ended(block.id);
  }

 private:
  apps::PlacedOutput out_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  const int workers = argc == 4 ? std::atoi(argv[1]) : 0;
  if (workers < 1) {
    if (utility::getRank() == 0) std::fprintf(stderr, "usage: bunzip2_operators WORKERS IN OUT\n");
    return 2;
  }
  Read read(argv[2]);
  Decompress decompress;
  Write write(argv[3]);
  decompress.setReplicate(workers);
  write.setOrdered(true);
  pipeline::run(&read, &decompress, &write);
  finalize();
}
