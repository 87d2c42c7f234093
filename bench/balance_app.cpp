// Work on demand for workers of different speed: each item keeps a worker for as long as that
// worker says. Prints a line for each worker, "worker NUMBER items COUNT seconds BUSY", and how
// long all took, "wall SECONDS".
//
//     balance_app ITEMS MICROSECONDS…
#include <piracema/piracema.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace piracema;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Piece {
  std::uint32_t worker = 0;
  double begin = 0, end = 0;
};

struct Work {
  std::vector<std::int64_t> grains_us;
  std::uint32_t worker = 0;

  void start(const Context& context) { worker = context.replica; }
  Piece operator()(const std::int64_t&) const {
    Piece done{.worker = worker, .begin = seconds()};
    std::this_thread::sleep_for(std::chrono::microseconds(grains_us[worker]));
    done.end = seconds();
    return done;
  }
};

struct Tell {
  std::vector<std::int64_t> items;
  std::vector<double> busy;
  double first = 0, last = 0;

  void operator()(const Piece& done) {
    items.resize(std::max<std::size_t>(items.size(), done.worker + 1));
    busy.resize(items.size());
    items[done.worker] += 1;
    busy[done.worker] += done.end - done.begin;
    first = first == 0 ? done.begin : std::min(first, done.begin);
    last = std::max(last, done.end);
  }
  void finish() const {
    for (std::size_t worker = 0; worker < items.size(); ++worker) {
      std::printf("worker %zu items %lld seconds %.6f\n", worker,
                  static_cast<long long>(items[worker]), busy[worker]);
    }
    std::printf("wall %.6f\n", last - first);
    std::fflush(stdout);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(items, busy, first, last);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || std::atoll(argv[1]) < 1) return 2;
  std::vector<std::int64_t> grains;
  for (int i = 2; i < argc; ++i) grains.push_back(std::atoll(argv[i]));
  const auto workers = static_cast<std::uint32_t>(grains.size());
  return run(pipeline(source("numbers", Sequence{1, std::atoll(argv[1])}),
                      farm("work", workers, Work{grains}), sink("tell", Tell{})));
}
