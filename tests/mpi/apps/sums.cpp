// Squares of the numbers from 1 to N in a farm, their sum printed at the end:
//
//     sums N [MICROSECONDS [FILE]]
//
// Each square takes that long, until FILE is there. The sum is right only if each number came once.
#include <piracema/piracema.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

using namespace piracema;

namespace {

struct Square {
  std::int64_t microseconds = 0;
  std::string enough;
  std::int64_t operator()(const std::int64_t& n) const {
    if (microseconds > 0 && ::access(enough.c_str(), F_OK) != 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    }
    return n * n;
  }
};

struct Sum {
  std::int64_t sum = 0;
  void operator()(const std::int64_t& n) { sum += n; }
  void finish() {
    std::printf("sum %lld\n", static_cast<long long>(sum));
    std::fflush(stdout);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::int64_t last = std::atoll(argv[1]);
  RunOptions options;
  options.snapshot_interval = std::chrono::milliseconds(50);
  if (const char* snapshots = std::getenv("SUMS_SNAPSHOTS")) options.snapshots = snapshots;
  options.resume = std::getenv("SUMS_RESUME") != nullptr;
  const Square square{argc > 2 ? std::atoll(argv[2]) : 0, argc > 3 ? argv[3] : ""};
  return run(
      pipeline(source("numbers", Sequence{1, last}), farm("square", 4, square), sink("sum", Sum{})),
      options);
}
