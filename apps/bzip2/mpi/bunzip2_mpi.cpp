// Decompresses a .bz2 file with plain MPI: the twin that ../bunzip2.cpp is measured against.
//
//     mpirun -n WORKERS+2 bunzip2_mpi IN OUT
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "../../common/mpi/ordered_farm.h"
#include "../bunzip2.h"

namespace {

class Bunzip2 : public mpi_farm::Program {
 public:
  Bunzip2(char** argv, bool reads, bool writes) : path_(argv[2]) {
    if (reads) blocks_.emplace(argv[1]);
    if (!writes) return;
    out_ = std::fopen(argv[2], "wbx");
    if (out_ == nullptr) fail();
    std::setvbuf(out_, nullptr, _IONBF, 0);
  }

  std::uint64_t item_bytes_max() const override { return apps::PackedBlocks::block_bytes_max; }
  bool read(mpi_farm::Message& out) override { return blocks_->next(out); }
  void work(std::string_view packed, mpi_farm::Message& out) override {
    apps::decompress(packed, out);
  }
  void write(std::string_view block) override {
    if (std::fwrite(block.data(), 1, block.size(), out_) != block.size()) fail();
  }
  void finish() override {
    if (std::fclose(out_) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error("'" + path_ + "' cannot be written: " + std::strerror(errno));
  }

  std::string path_;
  std::optional<apps::PackedBlocks> blocks_;
  std::FILE* out_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  return mpi_farm::run<Bunzip2>(argc, argv, "bunzip2_mpi IN OUT", 2);
}
