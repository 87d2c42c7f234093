#include <doctest/doctest.h>
#include <piracema/event_time.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/testing.h"
#include "flow/operator_testing.h"

using namespace piracema;
using namespace piracema::flow::testing;
using piracema::testing::contains;
using namespace std::chrono_literals;

namespace {

EventTime clock_at(std::int64_t second) { return EventTime(std::chrono::seconds(second)); }
EventTime time_of_reading(const std::int64_t& second) { return clock_at(second); }

/// One node that reads times, at a clock that the test sets.
struct OneNode {
  explicit OneNode(LiveTimes live, std::chrono::seconds wait = 2s)
      : code(event_time("times", time_of_reading, wait, live, drop_late).parts.graph.code[0]()) {
    code->open({.now = [this] { return asked += 1, clock; }});
  }
  std::vector<std::int64_t> take(const std::vector<std::int64_t>& items) {
    Batch batch;
    for (const std::int64_t item : items) batch.add(0, item);
    code->process(batch, out);
    return out.take();
  }
  EventTime come() { return code->advance(no_event_time, out); }

  WallTime clock = clock_at(1'000);
  int asked = 0;
  std::unique_ptr<Operator> code;
  KeptOutput<std::int64_t> out;
};

std::string why_no_live_times(LiveTimes live) {
  try {
    OneNode{live};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an item that is too far ahead of the clock is left out and counted, and moves nothing") {
  OneNode node({.ahead_at_most = 60s});
  CHECK(node.take({1'000, 1'061, 1'060, 999, 5'000'000}) ==
        std::vector<std::int64_t>{1'000, 1'060});
  CHECK(node.come() == clock_at(1'058));
  CHECK(node.code->items_late() == 3);
  node.clock = clock_at(1'010);
  CHECK(node.take({1'061}) == std::vector<std::int64_t>{1'061});
}

TEST_CASE("the clock is not asked for each item") {
  OneNode node({.ahead_at_most = 60s});
  for (std::int64_t second = 1'000; second < 1'060; ++second) node.take({second});
  CHECK(node.asked == 1);
}

TEST_CASE("where nothing comes event time follows the clock, and does not go back") {
  OneNode node({.idle_after = 30s});
  REQUIRE(node.code->idle_after() == 30s);
  CHECK(node.come() == no_event_time);
  node.code->idle(clock_at(1'000));
  CHECK(node.come() == clock_at(968));
  CHECK(node.take({967, 968, 990}) == std::vector<std::int64_t>{968, 990});
  node.code->idle(clock_at(1'010));
  CHECK(node.come() == clock_at(988));
  node.code->idle(clock_at(1'100));
  CHECK(node.come() == clock_at(1'068));
}

TEST_CASE("how far the clock has brought it is state, with and without LiveTimes the same") {
  OneNode node({});
  node.code->idle(clock_at(1'000));
  Buffer state;
  node.code->save(state);
  OneNode next({});
  next.code->load(state);
  CHECK(next.come() == clock_at(968));
  const auto without = event_time("times", time_of_reading, 2s, drop_late).parts.graph.code[0]();
  CHECK(without->layout() == next.code->layout());
  without->load(state);
  CHECK(without->advance(no_event_time, next.out) == clock_at(968));
  CHECK_FALSE(without->idle_after());
}

TEST_CASE("times to wait for and bounds that make no sense are named") {
  CHECK(why_no_live_times({.idle_after = 0s}) ==
        "event_time: LiveTimes: want idle_after from 1000000 ns to a year, found 0 ns");
  CHECK(contains(why_no_live_times({.ahead_at_most = -1s}),
                 "want ahead_at_most from 0 ns to a year"));
  CHECK(contains(why_no_live_times({.ahead_at_most = std::chrono::hours(24 * 366)}), "to a year"));
  CHECK(why_no_live_times({}) == "");
}
