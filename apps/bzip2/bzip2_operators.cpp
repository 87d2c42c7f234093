// bzip2 compression with the operator interface of paper 000 (its section 5).
//
//     bzip2_operators WORKERS IN OUT
//     piracema run -n 4 bzip2_operators WORKERS IN OUT     or mpirun -n 4 …
//
// OUT is replaced. It is what bunzip2 reads: one bzip2 stream for each block, in the order of the
// input.
#include <piracema/operators.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../common/placed_output.h"
#include "../common/times.h"
#include "bzip2.h"

using namespace piracema::operators;

class Read : public ISourceOperator {
 public:
  explicit Read(std::string path) : path_(std::move(path)) {}

  // Each message is a block of the file; the last one is empty, and says that there are no more.
  void onProduce() override {
    std::ifstream in(path_, std::ios::binary);
    if (!in) throw std::runtime_error("'" + path_ + "' cannot be read");
    const std::uint64_t bytes = std::filesystem::file_size(path_);
    // A .bz2 file has at least one stream, even that of an empty file.
    const auto blocks =
        std::max<std::uint64_t>(1, (bytes + apps::block_bytes - 1) / apps::block_bytes);
    auto number = keyStore::contains("next") ? keyStore::retrieve<std::uint64_t>("next") : 0;
    if (number == 0) apps::started();
    in.seekg(static_cast<std::streamoff>(number * apps::block_bytes));
    for (; number <= blocks; ++number) {
      std::string block(apps::block_bytes, '\0');
      in.read(block.data(), static_cast<std::streamsize>(block.size()));
      if (in.bad()) throw std::runtime_error("'" + path_ + "' cannot be read");
      block.resize(static_cast<std::size_t>(in.gcount()));
      keyStore::store("next", number + 1);
      Emit(number, block);
    }
  }

 private:
  std::string path_;
};

class Compress : public IMiddleOperator {
 public:
  void onReceive(const Message& block) override {
    const bool is_end = block.value.empty() && block.id != 0;
    Emit(is_end ? std::string() : apps::compress(block.value));
  }
};

class Write : public ISinkOperator {
 public:
  explicit Write(std::string path) : out_(std::move(path)) {}

  void onReceive(const Message& packed) override {
    const auto length =
        keyStore::contains("length") ? keyStore::retrieve<std::uint64_t>("length") : 0;
    out_.write_at(length, packed.value);
    keyStore::store("length", length + packed.value.size());
    if (packed.value.empty()) apps::ended(packed.id);
  }

 private:
  apps::PlacedOutput out_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  const int workers = argc == 4 ? std::atoi(argv[1]) : 0;
  if (workers < 1) {
    if (utility::getRank() == 0) std::fprintf(stderr, "usage: bzip2_operators WORKERS IN OUT\n");
    return 2;
  }
  Read read(argv[2]);
  Compress compress;
  Write write(argv[3]);
  compress.setReplicate(workers);
  write.setOrdered(true);
  pipeline::run(&read, &compress, &write);
  finalize();
}
