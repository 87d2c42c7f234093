#include "run/replica/operator_timer.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <chrono>
#include <optional>
#include <vector>

#include "run/packet/recorder.h"

using namespace piracema;
using namespace piracema::runtime;
using piracema::runtime::testing::Recorder;
using std::chrono::milliseconds;

namespace {

struct Alarm final : Operator {
  bool has_timer() const override { return has; }
  std::optional<WallTime> next_timer() const override { return next; }
  void on_timer(WallTime now, Output&) override { called.push_back(now); }

  bool has = true;
  std::optional<WallTime> next;
  std::vector<WallTime> called;
};

/// A sink whose operator has a timer.
struct TimedSink {
  TimedSink() { timer.begin(alarm); }

  Graph graph = pipeline(source("numbers", [] { return std::optional<std::int64_t>(); }),
                         sink("none", [](const std::int64_t&) {}));
  flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  OperatorGuard guard{port, counters, nullptr};
  Outbox outbox{1, plan.replicas[1], graph, {}, port, nullptr};
  Alarm alarm;
  OperatorTimer timer{port, counters, guard, outbox};
};

}  // namespace

TEST_CASE("a timer is called when it is due, and not before") {
  TimedSink f;
  CHECK_FALSE(f.timer.call());
  CHECK_FALSE(f.timer.left());
  f.alarm.next = WallTime(milliseconds(50));
  CHECK_FALSE(f.timer.call());
  CHECK(f.timer.left() == milliseconds(50));
  f.port.wall = WallTime(milliseconds(60));
  CHECK(f.timer.left() == Time{});
  CHECK(f.timer.call());
  CHECK(f.alarm.called == std::vector<WallTime>{f.port.wall});
}

TEST_CASE("a timer that is always due is called every other time") {
  TimedSink f;
  f.alarm.next = f.port.wall;
  CHECK(f.timer.call());
  CHECK_FALSE(f.timer.call());
  CHECK(f.timer.call());
}

TEST_CASE("nobody sleeps for long towards a timer, as the clock may be set meanwhile") {
  TimedSink f;
  f.alarm.next = f.port.wall + std::chrono::hours(5);
  f.timer.call();
  CHECK(f.timer.left() == std::chrono::seconds(1));
}

TEST_CASE("an operator without a timer is not asked") {
  TimedSink f;
  Alarm silent;
  silent.has = false;
  silent.next = f.port.wall;
  OperatorTimer timer(f.port, f.counters, f.guard, f.outbox);
  timer.begin(silent);
  CHECK_FALSE(timer.has_timer());
  CHECK_FALSE(timer.call());
}
