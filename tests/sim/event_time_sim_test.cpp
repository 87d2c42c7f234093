// Windows by event time: what comes out depends on the items alone, whatever is lost, moved or slow
// on the way.
#include <doctest/doctest.h>
#include <piracema/window.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/pieces.h"
#include "sim/seeds.h"
#include "sim/stream_parts.h"
#include "sim/tally.h"
#include "sim/test_place.h"
#include "sim/timed_items.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t keys = 20;
constexpr seconds window_size(20), long_window(60);

std::uint64_t key_of(const std::uint64_t& item) { return item * 7 % keys; }

using Gathered = WindowResult<std::uint64_t, Tally>;

/// The windows of one key that end within a longer one.
struct Largest {
  void operator()(const Gathered& window, std::uint64_t& sum) const {
    sum = std::max(sum, window.value.sum);
  }
};
using Longest = WindowResult<std::uint64_t, std::uint64_t>;

// What comes out, as numbers: of a late item, of a window, and of one over windows.
std::uint64_t number_of_late(std::uint64_t item) { return item; }
std::uint64_t number_of(std::uint64_t kind, std::uint64_t key, EventTime end, std::uint64_t value) {
  const auto second = static_cast<std::uint64_t>(end.time_since_epoch() / seconds(1) + 1'000);
  return ((kind * 100 + key) * 10'000 + second) * 1'000'000'000 + value;
}
std::uint64_t number_of_window(std::uint64_t key, EventTime end, const Tally& tally) {
  return number_of(1, key, end, tally.count * 100'000'000 + tally.sum % 100'000'000);
}
std::uint64_t number_of_longest(std::uint64_t key, EventTime end, std::uint64_t value) {
  return number_of(2, key, end, value % 1'000'000'000);
}

/// A window, whose results go two ways.
struct Both {
  void operator()(const Gathered& window, Emit<std::uint64_t>& number, Emit<Gathered>& on) const {
    number(number_of_window(window.key, window.to, window.value));
    on(window);
  }
};

struct Shape {
  std::uint32_t passing = 2, windows = 2, longest = 2;
  bool in_order = false, combined = true;
  /// What is wanted depends on these alone.
  seconds wait{6}, every{5};
};

Graph graph_of(Outside& outside, const Shape& shape) {
  const auto begin = [&] {
    auto read = source("count", Count{timed_items}).replicas(timed_sources);
    auto times = event_time("times", time_of, shape.wait).replicas(timed_sources).one_to_one();
    return shape.combined ? combine(std::move(read), std::move(times))
                          : pipeline(std::move(read), std::move(times));
  };
  const auto pass = farm("pass", shape.passing, [](const std::uint64_t& item) { return item; });
  auto gather = window("windows", shape.windows, key_of, time_of, sliding(window_size, shape.every),
                       Gather{&outside});
  // The next node goes by it, if there are several.
  if (shape.in_order) gather = std::move(gather).ordered();
  auto longest = pipeline(
      window(
          "longest", shape.longest, [](const Gathered& one) { return one.key; },
          [](const Gathered& one) { return one.time(); }, tumbling(long_window), Largest{}),
      node("number",
           [](const Longest& one) { return number_of_longest(one.key, one.to, one.value); }));
  auto results =
      pipeline(pass, std::move(gather), node("both", Both{}),
               branches(node("direct", [](const std::uint64_t& number) { return number; }),
                        std::move(longest)));
  auto late = node("late", [](const std::uint64_t& item) { return number_of_late(item); });
  return pipeline(begin(), branches(std::move(results), std::move(late)),
                  sink("write", Write{&outside}));
}

// The same by maps, one source after the other.
std::vector<std::uint64_t> expected(const Shape& shape) {
  std::vector<std::uint64_t> all;
  std::map<std::pair<std::uint64_t, std::int64_t>, Tally> windows;
  const std::int64_t size = window_size / seconds(1), every = shape.every / seconds(1);
  const auto in_time = [&](std::uint64_t item, std::int64_t second) {
    for (std::int64_t end = -1'000; end <= second + size; end += every) {
      if (end <= second || second < end - size) continue;
      Tally& tally = windows[{key_of(item), end}];
      tally.count += 1;
      tally.sum += item;
    }
  };
  for_each_timed(shape.wait, in_time,
                 [&](std::uint64_t item) { all.push_back(number_of_late(item)); });
  std::map<std::pair<std::uint64_t, std::int64_t>, std::uint64_t> longest;
  for (const auto& [of, tally] : windows) {
    const auto& [key, end] = of;
    all.push_back(number_of_window(key, EventTime(seconds(end)), tally));
    const std::int64_t length = long_window / seconds(1);
    const std::int64_t number = (end - 1 + 100 * length) / length - 100;
    auto& sum = longest[{key, (number + 1) * length}];
    sum = std::max(sum, tally.sum);
  }
  for (const auto& [of, sum] : longest) {
    all.push_back(number_of_longest(of.first, EventTime(seconds(of.second)), sum));
  }
  std::sort(all.begin(), all.end());
  return all;
}

void check_output(const Outside& outside, const Shape& shape) {
  const auto wanted = expected(shape);
  auto found = outside.output;
  std::sort(found.begin(), found.end());
  CHECK(found.size() == wanted.size());
  CHECK((found == wanted));
}

Shape shape_of(Random& random) {
  const auto upto = [&](std::uint64_t most) {
    return 1 + static_cast<std::uint32_t>(random.below(most));
  };
  return {.passing = upto(3),
          .windows = upto(4),
          .longest = upto(3),
          .in_order = random.chance(0.2),
          .combined = random.chance(0.5),
          .wait = seconds(random.chance(0.5) ? 0 : 6),
          .every = seconds(random.chance(0.5) ? 1 : 5)};
}

}  // namespace

TEST_CASE("windows and late items are those of one process with one map, whatever goes wrong") {
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(200)) {
    Outside outside;
    Random random(seed);
    const Shape shape = shape_of(random);
    const Graph graph = *fuse(graph_of(outside, shape), false);
    recoveries += come_through(graph, outside, seed);
    check_output(outside, shape);
  }
  CHECK(is_exercised(recoveries, 400, 200));
}

TEST_CASE(
    "a job with windows that is stopped and goes on with other numbers of replicas gives the "
    "same") {
  std::uint64_t changes = 0;
  for (const auto seed : seeds(150)) {
    Pieces job(seed);
    const Shape first = shape_of(job.random);
    job.next = [&job, &first] {
      Shape shape = first;
      shape.in_order = false;
      shape.passing = job.upto(3);
      shape.windows = job.upto(4);
      shape.longest = job.upto(3);
      return *fuse(graph_of(job.outside, shape), false);
    };
    job.stopped_after = [] { return milliseconds(700); };
    job.stopped = [&changes](bool resumes) { changes += resumes; };
    job.run();
    check_output(job.outside, first);
  }
  CHECK(is_exercised(changes, 150, 150));
}

TEST_CASE("results do not wait for the end: they come while the sources still have items") {
  for (const auto seed : seeds(20)) {
    Outside outside;
    const Graph graph = *fuse(graph_of(outside, {}), false);
    Cluster::Settings with = settings_of(seed, graph);
    Cluster cluster(with, workers(graph, seed));
    std::set<std::size_t> sizes;
    for (Time at{}; at < seconds(20); at += milliseconds(20)) {
      cluster.scheduler().at(at, [&] { sizes.insert(outside.output.size()); });
    }
    REQUIRE(cluster.run(seconds(200)));
    check_output(outside, {});
    // Nothing at first, all at the end, and something between.
    CHECK(sizes.size() > 2);
  }
}

}  // namespace piracema::sim
