// Items that come one by one: a source gives one each time that one is due, a sink looks how old it
// is. Prints microseconds: "p50 p99 p99.9 max".
//
//     latency_app ITEMS ITEMS_A_SECOND
#include <piracema/piracema.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "bench/common/latencies.h"

using namespace piracema;

namespace {

using Clock = std::chrono::steady_clock;

struct Item {
  std::int64_t made = 0;
  std::array<char, 56> rest{};
};

struct Make {
  std::int64_t items = 0, period_ns = 0, made = 0;
  Clock::time_point begin{};

  std::optional<Item> operator()() {
    if (made == items) return std::nullopt;
    if (made == 0) begin = Clock::now();
    made += 1;
    std::this_thread::sleep_until(begin + std::chrono::nanoseconds(period_ns * made));
    return Item{.made = Clock::now().time_since_epoch().count()};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(made);
  }
};

struct Look {
  bench::Latencies latencies;

  void operator()(const Item& item) {
    latencies.add(Clock::now().time_since_epoch().count() - item.made);
  }
  void finish() { latencies.print(); }
  template <class Archive>
  void serialize(Archive&) {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::atoll(argv[1]) < 1 || std::atoll(argv[2]) < 1) return 2;
  return run(
      pipeline(source("make", Make{std::atoll(argv[1]), 1'000'000'000 / std::atoll(argv[2])}),
               sink("look", Look{})));
}
