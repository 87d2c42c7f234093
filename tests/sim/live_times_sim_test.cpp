// Event time that follows the clock: a source that has nothing holds nobody up, a time far ahead
// makes nothing late, and whatever is lost on the way each item is counted once.
#include <doctest/doctest.h>
#include <piracema/window.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "sim/pieces.h"
#include "sim/seeds.h"
#include "sim/tally.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t items_each = 300, keys = 3;
constexpr WallTime rest_ends{seconds(8)};
constexpr LiveTimes live{.idle_after = milliseconds(60), .ahead_at_most = seconds(1)};
constexpr milliseconds window_size(200);

/// An item has a number, and a time in milliseconds.
constexpr std::uint64_t number_bits = 12;
std::uint64_t number_of(std::uint64_t item) { return item % (1 << number_bits); }
EventTime time_of(const std::uint64_t& item) {
  return EventTime(milliseconds(item >> number_bits));
}
std::uint64_t key_of(const std::uint64_t& item) { return number_of(item) % keys; }

bool is_old(std::uint64_t number) { return number % 20 == 7; }
bool is_ahead(std::uint64_t number) { return number % 20 == 13; }

/// Of two replicas one has nothing in the middle of it for seconds. A few items come much later
/// than they happened, and a few say that they happen in a minute.
struct Rests {
  std::uint64_t next = 0, replica = 0, asked = 0;
  std::function<WallTime()> now;

  void start(const Context& context) {
    replica = context.replica;
    now = context.now;
  }
  Poll<std::uint64_t> operator()() {
    if (next == items_each) return Poll<std::uint64_t>::end();
    const bool rests = replica == 1 && next == items_each / 8 && now() < rest_ends;
    if (rests || ++asked % 2 != 0) return Poll<std::uint64_t>::nothing_yet();
    const std::uint64_t number = replica * items_each + next++;
    auto at = now().time_since_epoch();
    if (is_old(number)) at = std::max(at - seconds(1), WallTime::duration(0));
    if (is_ahead(number)) at += seconds(60);
    return (static_cast<std::uint64_t>(at / milliseconds(1)) << number_bits) + number;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

/// Of the numbers, whatever their times.
struct GatherNumbers {
  Gather gather;
  void operator()(const std::uint64_t& item, Tally& tally) const { gather(number_of(item), tally); }
};
using Gathered = WindowResult<std::uint64_t, Tally>;

/// What comes out is a number of one of two kinds.
constexpr std::uint64_t is_window = std::uint64_t{1} << 60;
std::uint64_t text_of(const Gathered& window) {
  const auto which = static_cast<std::uint64_t>(window.to.time_since_epoch() / window_size);
  return is_window +
         (((which * keys + window.key) << 32) | (window.value.count << 20) | window.value.sum);
}

/// Which of the windows behind each other it is.
std::uint64_t window_of(std::uint64_t number) { return ((number - is_window) >> 32) / keys; }

Graph graph_of(Outside& outside, bool combined) {
  auto read = source("rests", Rests{}).replicas(2);
  auto times = event_time("times", time_of, milliseconds(20), live).replicas(2).one_to_one();
  auto begin = combined ? combine(std::move(read), std::move(times))
                        : pipeline(std::move(read), std::move(times));
  auto windows = pipeline(
      window("windows", 2, key_of, time_of, tumbling(window_size), GatherNumbers{{&outside}}),
      node("number", text_of));
  auto late = node("late", [](const std::uint64_t& item) { return number_of(item); });
  return *fuse(pipeline(std::move(begin), branches(std::move(windows), std::move(late)),
                        sink("write", Write{&outside})),
               false);
}

void check_output(const Outside& outside) {
  constexpr std::uint64_t all = 2 * items_each;
  std::uint64_t count = 0, sum = 0;
  std::set<std::uint64_t> windows, late;
  for (const std::uint64_t number : outside.output) {
    if (number < is_window) {
      CHECK(late.insert(number).second);
      continue;
    }
    CHECK(windows.insert((number - is_window) >> 32).second);
    count += (number >> 20) % (1 << 12);
    sum += number % (1 << 20);
  }
  for (const std::uint64_t number : late) sum += number;
  CHECK(count + late.size() == all);
  CHECK(sum == all * (all - 1) / 2);
  for (std::uint64_t number = 0; number < all; ++number) {
    if (is_ahead(number)) CHECK(late.contains(number));
  }
  CHECK(late.size() < all / 4);
}

}  // namespace

TEST_CASE("each item is in one window or late, once, whatever goes wrong and whoever has nothing") {
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(150)) {
    Outside outside;
    recoveries += come_through(graph_of(outside, seed % 2 == 0), outside, seed);
    check_output(outside);
  }
  CHECK(is_exercised(recoveries, 400, 150));
}

TEST_CASE("windows come out while one source has nothing") {
  for (const bool combined : {false, true}) {
    for (const auto seed : seeds(10)) {
      Outside outside;
      const Graph graph = graph_of(outside, combined);
      Cluster cluster(settings_of(seed, graph), workers(graph, seed));
      // One source has had nothing for long by then.
      std::uint64_t latest = 0;
      cluster.scheduler().at(seconds(5), [&] {
        for (const std::uint64_t number : outside.output) {
          if (number >= is_window) latest = std::max(latest, window_of(number));
        }
      });
      REQUIRE(cluster.run(seconds(200)));
      check_output(outside);
      CHECK(latest * window_size > milliseconds(1'200));
    }
  }
}

}  // namespace piracema::sim
