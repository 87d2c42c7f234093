// Finds faces and eyes in a video with plain MPI: the twin that ../eyes.cpp is measured against.
//
//     mpirun -n WORKERS+2 eyes_mpi VIDEO OUT
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "../../common/mpi/ordered_farm.h"
#include "../eyes.h"

namespace {

class Eyes : public mpi_farm::Program {
 public:
  Eyes(char** argv, bool reads, bool writes) : path_(argv[2]) {
    if (reads) video_.emplace(argv[1]);
    if (!writes) return;
    out_ = std::fopen(argv[2], "wbx");
    if (out_ == nullptr) fail();
  }

  std::uint64_t item_bytes_max() const override { return 2 * sizeof(int) + video_->frame_bytes(); }
  bool read(mpi_farm::Message& out) override {
    const auto frame = video_->next();
    if (!frame) return false;
    append(frame->rows, out);
    append(frame->columns, out);
    out.insert(out.end(), frame->pixels.begin(), frame->pixels.end());
    return true;
  }
  void work(std::string_view item, mpi_farm::Message& out) override {
    apps::Frame frame;
    std::memcpy(&frame.rows, item.data(), sizeof frame.rows);
    std::memcpy(&frame.columns, item.data() + sizeof frame.rows, sizeof frame.columns);
    item.remove_prefix(sizeof frame.rows + sizeof frame.columns);
    frame.pixels.assign(item.begin(), item.end());
    const std::string line = detector_.find(frame) + '\n';
    out.insert(out.end(), line.begin(), line.end());
  }
  void write(std::string_view line) override {
    if (std::fwrite(line.data(), 1, line.size(), out_) != line.size()) fail();
  }
  void finish() override {
    if (std::fclose(out_) != 0) fail();
  }

 private:
  static void append(int number, mpi_farm::Message& out) {
    const char* bytes = reinterpret_cast<const char*>(&number);
    out.insert(out.end(), bytes, bytes + sizeof number);
  }
  [[noreturn]] void fail() const {
    throw std::runtime_error("'" + path_ + "' cannot be written: " + std::strerror(errno));
  }

  std::string path_;
  std::optional<apps::Video> video_;
  apps::EyeDetector detector_;
  std::FILE* out_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return mpi_farm::run<Eyes>(argc, argv, "eyes_mpi VIDEO OUT", 2); }
