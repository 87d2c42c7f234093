// Sources that have nothing yet, nodes with two inputs, timers.
#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>

#include "run/replica/replica_fixture.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;
using std::chrono::milliseconds;

namespace {

/// A replica of any graph; everybody has asked it for items.
struct One {
  One(Graph of, ReplicaId id, ReplicaInit beginning = {})
      : graph(std::move(of)),
        plan(flow::make_plan(graph.shape)),
        replica(id, plan.replicas[id], graph, std::move(beginning), port, counters, nullptr) {
    replica.begin();
    replica.start();
    for (const auto& output : plan.replicas[id].outputs) {
      for (const ReplicaId to : output.targets) replica.receive(to, Credit{200, 0});
    }
  }
  Replica::Next run() {
    Replica::Next next = Replica::Next::again;
    while (next == Replica::Next::again) next = replica.step();
    return next;
  }

  Graph graph;
  flow::Plan plan;
  Recorder port;
  Counters counters;
  Replica replica;
};

std::int64_t available = 0;

/// Has as many numbers as are available, and ends at 100.
struct Waiting {
  std::int64_t next = 0;
  Poll<std::int64_t> operator()() {
    if (next == 100) return Poll<std::int64_t>::end();
    if (next >= available) return Poll<std::int64_t>::nothing_yet();
    return next++;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};
Graph waiting() { return pipeline(source("wait", Waiting{}), sink("total", Total{})); }

/// The same without a state.
struct Forgetful {
  std::int64_t next = 0;
  Poll<std::int64_t> operator()() {
    if (next >= available) return Poll<std::int64_t>::nothing_yet();
    return next++;
  }
};

/// Sends what it has counted so far a second after the first item.
struct Window {
  std::function<WallTime()> now;
  std::int64_t count = 0;
  std::int64_t due = 0;

  void start(const Context& context) { now = context.now; }
  void operator()(const std::int64_t&, Emit<std::int64_t>&) {
    if (count++ == 0) due = (now() + milliseconds(1'000)).time_since_epoch().count();
  }
  std::optional<WallTime> next_timer() const {
    if (count == 0) return std::nullopt;
    return WallTime(WallTime::duration(due));
  }
  void on_timer(WallTime, Emit<std::int64_t>& emit) { emit(std::exchange(count, 0)); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, due);
  }
};
Graph windowed() {
  return pipeline(source("numbers", Counting{0, 100}), node("window", Window{}),
                  sink("total", Total{}));
}

/// Always due.
struct Restless {
  void operator()(const std::int64_t& n, Emit<std::int64_t>& emit) { emit(n); }
  std::optional<WallTime> next_timer() const { return WallTime{}; }
  void on_timer(WallTime, Emit<std::int64_t>&) {}
};

struct Pairs {
  std::map<std::int64_t, std::int64_t> lefts;
  void left(const std::int64_t& n, Emit<std::string>&) { lefts[n] += 1; }
  void right(const double& x, Emit<std::string>& emit) {
    emit(std::to_string(x) + "=" + std::to_string(lefts[std::int64_t(x)]));
  }
};

struct Halves {
  int left = 3;
  std::optional<double> operator()() { return left-- > 0 ? std::optional(0.5) : std::nullopt; }
};

Graph joined(std::uint32_t replicas) {
  return pipeline(both(source("numbers", Counting{0, 3}), source("halves", Halves{})),
                  join("pair", replicas, Pairs{})
                      .by_keys([](const std::int64_t& n) { return n; },
                               [](const double& x) { return static_cast<std::int64_t>(x); }),
                  sink("drop", [](const std::string&) {}));
}

template <class T>
Batch batch_of_type(std::vector<T> values) {
  Batch batch;
  std::uint64_t id = 0;
  for (const T& value : values) batch.add(id++, value);
  batch.order.sequence = 0;
  return batch;
}

std::vector<std::string> texts(const Recorder& port) {
  std::vector<std::string> all;
  for (const auto& [to, batch] : port.sent_of<Batch>()) {
    BatchReader items(batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      all.push_back(Codec<std::string>::decode(items.next()));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a source that has nothing yet is neither at its end nor in the way of a snapshot") {
  available = 0;
  One f(waiting(), 0);
  CHECK(f.run() == Replica::Next::poll);
  CHECK_FALSE(f.port.has_ended);
  CHECK(f.port.values().empty());

  f.replica.trigger(1);
  CHECK(f.run() == Replica::Next::poll);
  CHECK(f.port.saved.contains(1));
  CHECK(f.port.sent_of<Barrier>().size() == 1);

  available = 3;
  CHECK(f.run() == Replica::Next::poll);
  CHECK(f.port.values() == std::vector<std::int64_t>{0, 1, 2});
  CHECK(f.counters.items_out == 3);

  available = 100;
  f.run();
  CHECK(f.port.has_ended);
  CHECK(f.port.values().size() == 100);
  CHECK(f.port.failures.empty());
}

TEST_CASE("a source that waited goes on from its state") {
  available = 5;
  One f(waiting(), 0);
  f.run();
  f.replica.trigger(1);
  f.run();
  ReplicaInit beginning{.state = std::move(f.port.saved[1]), .snapshot = 1};
  available = 7;
  One after(waiting(), 0, std::move(beginning));
  after.run();
  CHECK(after.port.values() == std::vector<std::int64_t>{5, 6});
}

TEST_CASE(
    "a source that may wait and has no state passes by what it had sent, when that is there") {
  const auto graph = [] { return pipeline(source("wait", Forgetful{}), sink("total", Total{})); };
  available = 5;
  One f(graph(), 0);
  f.run();
  f.replica.trigger(1);
  f.run();
  ReplicaInit beginning{.state = std::move(f.port.saved[1]), .snapshot = 1};
  available = 2;
  One after(graph(), 0, std::move(beginning));
  CHECK(after.run() == Replica::Next::poll);
  CHECK(after.port.values().empty());
  available = 6;
  after.run();
  CHECK(after.port.values() == std::vector<std::int64_t>{5});
}

TEST_CASE("what waits for room says for how long, also while it waits") {
  One f(pipeline(source("many", Counting{0, 10'000'000}), sink("total", Total{})), 0);
  f.port.clock = milliseconds(1'000);
  CHECK(f.counters.blocked_by(f.port.clock) == 0);
  CHECK(f.run() == Replica::Next::wait);  // All credit is used up.
  CHECK(f.counters.blocked_by(milliseconds(3'000)) == 2'000'000'000);

  f.port.clock = milliseconds(4'000);
  f.replica.receive(1, Credit{200, 0});
  CHECK(f.replica.step() == Replica::Next::again);
  CHECK(f.counters.blocked_by(milliseconds(9'000)) == 3'000'000'000);
}

TEST_CASE("what has come and was not taken yet is counted") {
  One f(waiting(), 1);
  f.replica.receive(0, batch_of({1, 2}));
  f.replica.receive(0, batch_of({3}));
  CHECK(f.counters.queued == 2);
  f.run();
  CHECK(f.counters.queued == 0);
}

TEST_CASE("a timer is called when it is due, without an item that would do it") {
  One f(windowed(), 1);
  f.port.wall = WallTime(milliseconds(10'000));
  f.replica.receive(0, batch_of({1, 2, 3}));
  CHECK(f.run() == Replica::Next::wait);
  CHECK(f.replica.longest_wait() == std::chrono::seconds(1));
  CHECK(f.port.values().empty());

  f.port.wall += milliseconds(999);
  f.replica.receive(0, batch_of({4}));
  f.run();
  CHECK(f.port.values().empty());
  CHECK(f.replica.longest_wait() == milliseconds(1));

  f.port.wall += milliseconds(1);
  CHECK(f.run() == Replica::Next::wait);
  CHECK(f.port.values() == std::vector<std::int64_t>{4});
  CHECK(f.replica.longest_wait() == std::nullopt);
}

TEST_CASE("a timer that was set before a snapshot is due after it was restored") {
  One f(windowed(), 1);
  f.port.wall = WallTime(milliseconds(10'000));
  f.replica.receive(0, batch_of({1, 2}));
  f.replica.receive(0, Barrier{1});
  f.run();
  ReplicaInit beginning{.state = std::move(f.port.saved[1]), .snapshot = 1};
  One after(windowed(), 1, std::move(beginning));
  after.port.wall = WallTime(milliseconds(11'500));
  after.run();
  CHECK(after.port.values() == std::vector<std::int64_t>{2});
}

TEST_CASE("timers that are always due do not keep items waiting") {
  One f(pipeline(source("numbers", Counting{0, 100}), node("restless", Restless{}),
                 sink("total", Total{})),
        1);
  f.replica.receive(0, batch_of({1}));
  f.replica.receive(0, batch_of({2}));
  for (int i = 0; i < 6; ++i) f.replica.step();
  CHECK(f.counters.items_in == 2);
}

TEST_CASE("a node in a cycle has no timers: it is an error that says so") {
  struct Round {
    void operator()(const std::int64_t& n, Emit<std::int64_t>& out, Emit<std::int64_t>&) { out(n); }
    std::optional<WallTime> next_timer() const { return std::nullopt; }
    void on_timer(WallTime, Emit<std::int64_t>&, Emit<std::int64_t>&) {}
  };
  One f(pipeline(source("numbers", Counting{0, 100}), loop(node("round", Round{})),
                 sink("total", Total{})),
        1);
  REQUIRE(f.port.failures.size() == 1);
  CHECK(f.port.failures[0].second.find("on_timer in a cycle") != std::string::npos);
}

TEST_CASE("a join has an input for each type, and knows which is which") {
  One f(joined(1), 2);
  f.replica.receive(0, batch_of_type<std::int64_t>({1, 1, 2}));
  f.replica.receive(1, batch_of_type<double>({1.0, 2.0, 3.0}));
  f.replica.receive(0, EndOfStream{});
  f.run();
  CHECK_FALSE(f.port.has_ended);
  f.replica.receive(1, EndOfStream{});
  f.run();
  CHECK(f.port.has_ended);
  CHECK(f.port.failures.empty());
  CHECK(texts(f.port) == std::vector<std::string>{"1.000000=2", "2.000000=1", "3.000000=0"});
}

TEST_CASE("equal keys of both inputs of a join reach the same replica") {
  const Graph graph = joined(7);
  REQUIRE(validate(graph.shape).ok());
  REQUIRE(graph.shape.edges.size() == 3);
  CHECK(graph.shape.edges[0].input == 0);
  CHECK(graph.shape.edges[1].input == 1);
  CHECK(graph.shape.edges[0].delivery == Delivery::by_key);
  for (std::int64_t key = 0; key < 100; ++key) {
    const double same = static_cast<double>(key);
    CHECK(graph.routers[0](&key) == graph.routers[1](&same));
  }
}
