#include "run/replica/event_clock.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/event_time.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "run/packet/recorder.h"
#include "run/replica/replica_fixture.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

EventTime come_at(int second) { return EventTime(seconds(second)); }

/// Hears of event time, and may say another one.
struct Listener final : Operator {
  EventTime advance(EventTime come, Output& output) override {
    heard.push_back(come);
    for (const std::int64_t item : emits) output.emit(item);
    if (throws) throw std::runtime_error("no time");
    if (more != 0 && --more != 0) return no_event_time;
    return own.value_or(come);
  }
  bool is_advancing() const override { return more > 0; }
  bool gives_event_time() const override { return own.has_value(); }
  std::uint64_t items_late() const override { return 7; }
  std::optional<std::chrono::nanoseconds> idle_after() const override { return rests; }
  void idle(WallTime now) override { idle_at.push_back(now); }

  std::vector<EventTime> heard;
  std::optional<EventTime> own;
  std::optional<std::chrono::nanoseconds> rests;
  std::vector<WallTime> idle_at;
  std::vector<std::int64_t> emits;
  /// So often it has more to do.
  int more = 0;
  bool throws = false;
};

/// The middle of source > node > farm of two > sink.
struct Middle {
  Graph graph = pipeline(source("numbers", [] { return std::optional<std::int64_t>(); }),
                         node("middle", twice), farm("farm", 2, twice),
                         sink("end", [](const std::int64_t&) {}));
  flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  OperatorGuard guard{port, counters, nullptr};
  Outbox outbox{1, plan.replicas[1], graph, {}, port, nullptr};
  Listener code;
  EventClock clock{plan.replicas[1], port, counters, guard, outbox};

  std::vector<EventTime> said() const {
    std::vector<EventTime> all;
    for (const auto& [to, mark] : port.sent_of<Watermark>()) all.push_back(mark.come);
    return all;
  }
};

}  // namespace

TEST_CASE("an operator hears how far event time has come, and so do all that follow it") {
  Middle f;
  f.clock.begin(f.code);
  CHECK_FALSE(f.clock.call());
  f.clock.on_watermark(0, come_at(5));
  CHECK(f.clock.call());
  CHECK(f.code.heard == std::vector<EventTime>{come_at(5)});
  CHECK(f.said() == std::vector<EventTime>{come_at(5), come_at(5)});
  CHECK(f.counters.event_time.load() == come_at(5).time_since_epoch().count());
  CHECK_FALSE(f.clock.call());
}

TEST_CASE("news of event time wait for their turn, so that batches can fill up") {
  Middle f;
  f.clock.begin(f.code);
  f.clock.on_watermark(0, come_at(1));
  CHECK(f.clock.call());
  CHECK_FALSE(f.clock.left());
  f.port.clock = milliseconds(4);
  f.clock.on_watermark(0, come_at(2));
  f.clock.on_watermark(0, come_at(3));
  CHECK_FALSE(f.clock.call());
  CHECK(f.clock.left() == milliseconds(6));
  f.port.clock = milliseconds(10);
  CHECK(f.clock.call());
  CHECK(f.code.heard == std::vector<EventTime>{come_at(1), come_at(3)});
}

TEST_CASE("who gives event time says so at once when it begins, and whenever it has worked") {
  Middle f;
  f.code.own = come_at(40);
  f.clock.begin(f.code);
  CHECK(f.clock.call());
  CHECK(f.code.heard == std::vector<EventTime>{no_event_time});
  CHECK(f.said() == std::vector<EventTime>{come_at(40), come_at(40)});
  CHECK(f.counters.items_late.load() == 7);
  f.port.clock = seconds(1);
  CHECK_FALSE(f.clock.call());
  f.clock.worked();
  CHECK(f.clock.call());
  CHECK(f.said().size() == 2);  // It has come no further.
}

TEST_CASE(
    "what was late counts from the beginning: who had ended in the snapshot is called no more") {
  Middle f;
  f.code.own = come_at(40);
  f.clock.begin(f.code);
  CHECK(f.counters.items_late.load() == 7);
  CHECK(f.code.heard.empty());
}

TEST_CASE(
    "an operator that has more to do is called every other time, and told nothing new until then") {
  Middle f;
  f.clock.begin(f.code);
  f.code.more = 3;
  f.clock.on_watermark(0, come_at(1));
  CHECK(f.clock.call());
  f.clock.on_watermark(0, come_at(2));
  CHECK(f.clock.left() == Time{});
  CHECK_FALSE(f.clock.call());
  CHECK(f.clock.call());
  CHECK(f.said().empty());
  CHECK_FALSE(f.clock.call());
  CHECK(f.clock.call());
  CHECK(f.said().front() == come_at(1));
  CHECK_FALSE(f.clock.call());
  CHECK(f.clock.left() == EventClock::interval);
  f.port.clock = EventClock::interval;
  CHECK(f.clock.call());
  CHECK(f.code.heard == std::vector<EventTime>{come_at(1), come_at(1), come_at(1), come_at(2)});
}

TEST_CASE("what an operator emits at it leaves at once, although it has more to do") {
  Middle f;
  for (const ReplicaId to : {2u, 3u}) f.outbox.on_credit(to, {.batches = 4, .ns_per_item = 100});
  f.clock.begin(f.code);
  f.code.more = 3;
  f.code.emits = {1, 2};
  f.clock.on_watermark(0, come_at(1));
  CHECK(f.clock.call());
  CHECK(f.port.values() == std::vector<std::int64_t>{1, 2});
  CHECK(f.said().empty());
}

TEST_CASE("a replica that waits for room does not wake for event time") {
  Fixture f(1);
  Replica& worker = f.make(1);
  worker.receive(0, Watermark{come_at(1)});
  f.run();
  f.port.clock = milliseconds(1);
  worker.receive(0, Watermark{come_at(2)});
  f.run();
  CHECK(worker.longest_wait() == milliseconds(9));
  // More than anybody has asked for.
  for (std::int64_t item = 0; item < 10; ++item) worker.receive(0, batch_of({item}));
  f.run();
  CHECK_FALSE(worker.longest_wait());
}

TEST_CASE("an operator that throws at it fails its replica, by no item") {
  Middle f;
  f.code.throws = true;
  f.clock.begin(f.code);
  f.clock.on_watermark(0, come_at(1));
  CHECK(f.clock.call());
  REQUIRE(f.port.failures.size() == 1);
  CHECK_FALSE(f.port.failures[0].first);
  CHECK(f.port.failures[0].second == "on_event_time: no time");
  CHECK(f.said().empty());
}

TEST_CASE("a watermark stays behind the items that were emitted before it") {
  Fixture f(1);
  Replica& worker = f.make(1);
  worker.receive(0, batch_of({1}));
  worker.receive(0, Watermark{come_at(9)});
  f.run();
  std::string sent;
  for (const auto& [to, packet] : f.port.sent) {
    if (std::holds_alternative<Batch>(packet)) sent += "items, ";
    if (std::holds_alternative<Watermark>(packet)) sent += "watermark";
  }
  CHECK(sent == "items, watermark");
}

TEST_CASE("a watermark that waits for room is replaced by the next one, and barriers pass it") {
  Fixture f(1);
  f.replica = std::make_unique<Replica>(1, f.plan.replicas[1], f.graph, ReplicaInit{}, f.port,
                                        f.counters, nullptr);
  f.replica->begin();
  f.replica->start();  // Nobody has asked for items.
  f.replica->receive(0, batch_of({1}));
  f.replica->receive(0, Watermark{come_at(9)});
  f.run();
  f.replica->receive(0, Barrier{1, 0, Time{}});
  f.run();
  CHECK(f.port.sent_of<Watermark>().empty());
  CHECK(f.port.sent_of<Barrier>().size() == 1);
  f.port.clock = seconds(1);
  f.replica->receive(0, Watermark{come_at(11)});
  f.run();
  f.replica->receive(2, Credit{4, 0});
  f.run();
  const auto marks = f.port.sent_of<Watermark>();
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].second.come == come_at(11));
}

TEST_CASE(
    "an operator that wants to know hears that nothing has come for so long, and then often") {
  Middle f;
  f.code.own = come_at(40);
  f.code.rests = seconds(8);
  f.port.wall = WallTime(seconds(1'000));
  f.clock.begin(f.code);
  CHECK(f.clock.call());
  CHECK(f.clock.left() == seconds(8));
  f.port.clock = seconds(7);
  f.clock.saw_items();
  f.port.clock = seconds(14);
  CHECK_FALSE(f.clock.is_quiet());
  CHECK(f.clock.left() == seconds(1));
  f.port.clock = seconds(15);
  REQUIRE(f.clock.is_quiet());
  f.clock.tell_idle();
  CHECK(f.code.idle_at == std::vector<WallTime>{WallTime(seconds(1'000))});
  // It may have come further by that.
  f.code.own = come_at(50);
  CHECK(f.clock.call());
  CHECK(f.said().back() == come_at(50));
  CHECK_FALSE(f.clock.is_quiet());
  CHECK(f.clock.left() == seconds(1));
  f.port.clock = seconds(16);
  CHECK(f.clock.is_quiet());
}

TEST_CASE("who does not want to know is never idle") {
  Middle f;
  f.clock.begin(f.code);
  f.port.clock = std::chrono::hours(24);
  CHECK_FALSE(f.clock.is_quiet());
  CHECK_FALSE(f.clock.left());
}

namespace {

EventTime time_of_number(const std::int64_t& number) { return EventTime(seconds(number)); }
constexpr LiveTimes live{.idle_after = seconds(10)};

/// The node "times" behind sources without items, which are asked for some.
struct LiveTimesNode {
  LiveTimesNode()
      : graph(pipeline(
            source("numbers", [] { return Poll<std::int64_t>::nothing_yet(); }).replicas(2),
            event_time("times", time_of_number, seconds(1), live, drop_late),
            sink("end", [](const std::int64_t&) {}))),
        replica(2, plan.replicas[2], graph, {}, port, counters, nullptr) {
    port.wall = WallTime(seconds(1'000));
    replica.begin();
    replica.start();
    replica.receive(3, Credit{200, 0});
    run();
  }
  void run() {
    while (replica.step() == Replica::Next::again) {
    }
  }
  std::optional<EventTime> said() const {
    const auto marks = port.sent_of<Watermark>();
    return marks.empty() ? std::nullopt : std::optional(marks.back().second.come);
  }

  Graph graph;
  flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  Replica replica;
};

}  // namespace

TEST_CASE("event time follows the clock of a node that nothing has come to, and waits for items") {
  LiveTimesNode f;
  CHECK_FALSE(f.said());
  CHECK(f.replica.longest_wait() == seconds(10));
  f.port.clock = seconds(10);
  f.run();
  CHECK(f.said() == come_at(989));
  f.replica.receive(0, batch_of({995}));
  f.run();
  f.port.clock = seconds(19);
  f.port.wall = WallTime(seconds(1'100));
  f.run();
  CHECK(f.said() == come_at(994));
  f.port.clock = seconds(20);
  f.run();
  CHECK(f.said() == come_at(1'089));
}

TEST_CASE("a node whose items wait behind a barrier is not idle, and does not wake for it") {
  LiveTimesNode f;
  f.replica.receive(0, Barrier{1, 0, Time::max()});
  f.replica.receive(0, batch_of({990}));
  f.run();
  f.port.clock = seconds(10);
  f.run();
  CHECK_FALSE(f.said());
  CHECK(f.replica.longest_wait() == seconds(10));
  f.replica.receive(1, Barrier{1, 0, Time::max()});
  f.run();
  CHECK(f.said() == come_at(989));
  CHECK(f.port.values() == std::vector<std::int64_t>{990});
}

TEST_CASE("a source that has nothing yet is idle by itself, one that has items is not") {
  static int items = 0;
  const Graph graph =
      *fuse(pipeline(combine(source("numbers",
                                    [] {
                                      return items-- > 0 ? Poll<std::int64_t>(990)
                                                         : Poll<std::int64_t>::nothing_yet();
                                    }),
                             event_time("times", time_of_number, seconds(1), live, drop_late)),
                     sink("end", [](const std::int64_t&) {})),
            false);
  const flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  Replica replica(0, plan.replicas[0], graph, {}, port, counters, nullptr);
  port.wall = WallTime(seconds(1'000));
  replica.begin();
  replica.start();
  replica.receive(1, Credit{200, 0});
  const auto pass = [&](Time at, int with_items) {
    items = with_items;
    for (port.clock = at; port.clock < at + 5 * EventClock::interval;
         port.clock += EventClock::interval) {
      replica.step();
    }
    const auto marks = port.sent_of<Watermark>();
    return marks.empty() ? std::nullopt : std::optional(marks.back().second.come);
  };
  pass(seconds(5), 3);
  CHECK(pass(seconds(14), 3) == come_at(989));
  port.wall = WallTime(seconds(2'000));
  CHECK(pass(seconds(23), 0) == come_at(989));
  CHECK(pass(seconds(25), 0) == come_at(1'989));
}
