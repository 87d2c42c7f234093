// What bench/streams/barrier.py takes snapshots of: three stages, each of two workers and slower than
// the one before it, so that all that lies between them is full. They wait, so that two cores do.
//
//     barrier_app ITEMS US
//
// An item takes the last stage US microseconds, the others half and a quarter of it.

#include <piracema/piracema.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace piracema;

namespace {

struct Slow {
  std::chrono::microseconds each{};
  std::int64_t done = 0;

  std::int64_t operator()(const std::int64_t& n) {
    std::this_thread::sleep_for(each);
    done += 1;
    return n;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(done);
  }
};

struct Sum {
  std::int64_t sum = 0;
  void operator()(const std::int64_t& n) { sum += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s ITEMS US\n", argv[0]);
    return 2;
  }
  const std::chrono::microseconds each(std::atoll(argv[2]));
  const auto key = [](const std::int64_t& n) { return n; };
  return run(pipeline(source("numbers", Sequence(1, std::atoll(argv[1]))),
                      farm("first", 2, Slow{each / 4}).by_key(key),
                      farm("second", 2, Slow{each / 2}).by_key(key),
                      farm("third", 2, Slow{each}).by_key(key), sink("sum", Sum{})));
}
