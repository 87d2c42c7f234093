// What bench_recovery kills: many items of a tenth of a millisecond each, with state, in order,
// into a file.
//
//     recovery_app ITEMS OUT

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <piracema/piracema.h>

using namespace piracema;

struct Work {
  std::uint64_t done = 0;

  std::string operator()(const std::int64_t& n) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (std::chrono::steady_clock::now() < end) {
    }
    done += 1;
    return std::to_string(n);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(done);
  }
};

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s ITEMS OUT\n", argv[0]);
    return 2;
  }
  return run(pipeline(source("numbers", Sequence(1, std::atoll(argv[1]))),
                      farm("work", 2, Work{}).ordered(), sink("write", LineSink(argv[2], true))));
}
