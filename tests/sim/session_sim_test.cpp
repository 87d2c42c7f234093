// Sessions by event time: they are those of all items in the order of their times, whatever is
// lost, moved or slow on the way.
#include <doctest/doctest.h>
#include <piracema/window.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/engine.h"
#include "sim/pieces.h"
#include "sim/seeds.h"
#include "sim/tally.h"
#include "sim/timed_items.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t keys = 5;
constexpr seconds wait(6);

// Of both sources, at irregular distances.
std::uint64_t key_of(const std::uint64_t& item) { return mix(item % of_a_source / 3) % keys; }

using Gathered = WindowResult<std::uint64_t, Tally>;

// What comes out, as a number: of a late item itself, of a session one that differs if anything
// of it does.
std::uint64_t number_of(std::uint64_t key, EventTime from, EventTime to, const Tally& tally) {
  std::uint64_t all = key;
  for (const auto part :
       {static_cast<std::uint64_t>(from.time_since_epoch().count()),
        static_cast<std::uint64_t>(to.time_since_epoch().count()), tally.count, tally.sum}) {
    all = mix(all ^ mix(part));
  }
  return all | std::uint64_t{1} << 63;
}

struct Shape {
  seconds gap{};
  std::uint32_t passing = 2, sessions = 2;
};

Graph graph_of(Outside& outside, const Shape& shape) {
  auto times = combine(source("count", Count{timed_items}).replicas(timed_sources),
                       event_time("times", time_of, wait).replicas(timed_sources));
  const auto pass = farm("pass", shape.passing, [](const std::uint64_t& item) { return item; });
  auto gather =
      window("sessions", shape.sessions, key_of, time_of, sessions(shape.gap), Gather{&outside});
  auto number = node("number", [](const Gathered& one) {
    return number_of(one.key, one.from, one.to, one.value);
  });
  auto late = node("late", [](const std::uint64_t& item) { return item; });
  return *fuse(
      pipeline(std::move(times),
               branches(pipeline(pass, std::move(gather), std::move(number)), std::move(late)),
               sink("write", Write{&outside})),
      false);
}

std::vector<std::uint64_t> expected(seconds gap) {
  std::vector<std::uint64_t> all;
  std::map<std::uint64_t, std::vector<std::pair<std::int64_t, std::uint64_t>>> of_keys;
  for_each_timed(
      wait,
      [&](std::uint64_t item, std::int64_t second) {
        of_keys[key_of(item)].emplace_back(second, item);
      },
      [&](std::uint64_t item) { all.push_back(item); });
  for (auto& [key, items] : of_keys) {
    std::sort(items.begin(), items.end());
    Tally tally;
    EventTime from{};
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (tally.count == 0) from = EventTime(seconds(items[i].first));
      tally.count += 1;
      tally.sum += items[i].second;
      const EventTime to = EventTime(seconds(items[i].first)) + gap;
      if (i + 1 < items.size() && EventTime(seconds(items[i + 1].first)) < to) continue;
      all.push_back(number_of(key, from, to, tally));
      tally = {};
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

void check_output(const Outside& outside, seconds gap) {
  auto found = outside.output;
  std::sort(found.begin(), found.end());
  CHECK((found == expected(gap)));
}

Shape shape_of(Random& random) {
  const auto upto = [&](std::uint64_t most) {
    return 1 + static_cast<std::uint32_t>(random.below(most));
  };
  return {.gap = seconds(3 + upto(20)), .passing = upto(3), .sessions = upto(4)};
}

}  // namespace

TEST_CASE("the gaps of these tests make short sessions and long ones") {
  for (const int gap : {4, 23}) CHECK(expected(seconds(gap)).size() > keys + timed_items / 10);
}

TEST_CASE("sessions and late items are those of one process with one map, whatever goes wrong") {
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(150)) {
    Outside outside;
    Random random(seed);
    const Shape shape = shape_of(random);
    recoveries += come_through(graph_of(outside, shape), outside, seed);
    check_output(outside, shape.gap);
  }
  CHECK(is_exercised(recoveries, 300, 150));
}

TEST_CASE("a job with sessions that is stopped and goes on with other numbers gives the same") {
  std::uint64_t changes = 0;
  for (const auto seed : seeds(100)) {
    Pieces job(seed);
    const Shape first = shape_of(job.random);
    job.next = [&job, &first] {
      return graph_of(job.outside,
                      {.gap = first.gap, .passing = job.upto(3), .sessions = job.upto(4)});
    };
    job.stopped_after = [] { return milliseconds(700); };
    job.stopped = [&changes](bool resumes) { changes += resumes; };
    job.run();
    check_output(job.outside, first.gap);
  }
  CHECK(is_exercised(changes, 100, 100));
}

}  // namespace piracema::sim
