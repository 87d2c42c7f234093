#include "observe/status/lag.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::observe;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// A source, two replicas that work, and a sink.
GraphShape pipeline() {
  GraphShape shape;
  shape.nodes = {{.name = "in", .role = Role::source},
                 {.name = "work", .replicas = 2},
                 {.name = "out", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return shape;
}

/// What the three have done: sent by the source, taken and sent by the workers, taken by the sink.
std::vector<Lag::Done> done(std::uint64_t sent, std::uint64_t worked, std::uint64_t out) {
  return {{0, sent}, {worked, worked}, {out, 0}};
}

}  // namespace

TEST_CASE("where all is taken that was sent nothing waits, and nothing is behind") {
  Lag lag;
  lag.look(seconds(1), 1, pipeline(), done(100, 100, 100));
  CHECK(!lag.of(0));
  CHECK(lag.of(1)->items == 0);
  CHECK(lag.of(1)->age == Time{});
  CHECK(lag.to_the_sinks() == Time{});
}

TEST_CASE("the oldest item that waits is as old as it is since so much was sent as is taken") {
  Lag lag;
  const GraphShape shape = pipeline();
  // A thousand a second come, and half of them are taken.
  for (std::uint64_t s = 0; s <= 10; ++s) {
    lag.look(seconds(s), 1, shape, done(1'000 * s, 500 * s, 500 * s));
  }
  CHECK(lag.of(1)->items == 5'000);
  CHECK(lag.of(1)->age == seconds(5));
  CHECK(lag.of(2)->items == 0);
  CHECK(lag.to_the_sinks() == seconds(5));
}

TEST_CASE("between two looks items were sent evenly") {
  Lag lag;
  const GraphShape shape = pipeline();
  lag.look(seconds(0), 1, shape, done(0, 0, 0));
  lag.look(seconds(1), 1, shape, done(1'000, 250, 250));
  CHECK(lag.of(1)->age == milliseconds(750));
}

TEST_CASE("what stands still gets older") {
  Lag lag;
  const GraphShape shape = pipeline();
  lag.look(seconds(0), 1, shape, done(0, 0, 0));
  for (std::uint64_t s = 1; s <= 2'000; ++s) lag.look(seconds(s), 1, shape, done(10, 0, 0));
  CHECK(lag.of(1)->items == 10);
  CHECK(lag.of(1)->age == seconds(2'000));
}

TEST_CASE("however long it takes, the age is right to some part of it") {
  Lag lag;
  const GraphShape shape = pipeline();
  for (std::uint64_t s = 0; s <= 10'000; ++s) {
    lag.look(seconds(s), 1, shape, done(1'000 * s, 100 * s, 100 * s));
  }
  CHECK(lag.of(1)->age > seconds(8'900));
  CHECK(lag.of(1)->age < seconds(9'100));
}

TEST_CASE("the lag of sinks is that of all nodes on the way") {
  Lag lag;
  const GraphShape shape = pipeline();
  for (std::uint64_t s = 0; s <= 10; ++s) {
    lag.look(seconds(s), 1, shape, done(1'000 * s, 500 * s, 250 * s));
  }
  CHECK(lag.of(2)->age == seconds(5));
  CHECK(lag.to_the_sinks() == seconds(10));
}

TEST_CASE("what goes to all replicas has to be taken by each") {
  Lag lag;
  GraphShape shape = pipeline();
  shape.edges[0].delivery = Delivery::broadcast;
  lag.look(seconds(0), 1, shape, done(0, 0, 0));
  lag.look(seconds(1), 1, shape, done(100, 150, 150));
  CHECK(lag.of(1)->items == 50);
  CHECK(lag.of(1)->age == milliseconds(250));
}

TEST_CASE("after a return to a snapshot counts begin anew") {
  Lag lag;
  const GraphShape shape = pipeline();
  lag.look(seconds(0), 1, shape, done(0, 0, 0));
  lag.look(seconds(9), 1, shape, done(9'000, 10, 10));
  lag.look(seconds(10), 2, shape, done(0, 0, 0));
  CHECK(lag.of(1)->items == 0);
  lag.look(seconds(11), 2, shape, done(100, 100, 100));
  CHECK(lag.to_the_sinks() == Time{});
}

TEST_CASE("a receiver that is heard of later than its sender is not behind") {
  Lag lag;
  lag.look(seconds(1), 1, pipeline(), done(100, 130, 140));
  CHECK(lag.of(1)->items == 0);
  CHECK(lag.to_the_sinks() == Time{});
}

TEST_CASE("it is not known where counts do not tell") {
  GraphShape two_ways = pipeline();
  two_ways.nodes.push_back({.name = "other", .role = Role::sink});
  two_ways.edges.push_back({.from = 0, .to = 3, .output = 1});
  GraphShape cycle = pipeline();
  cycle.edges.push_back({.from = 1, .to = 1, .back = true});
  GraphShape combined = pipeline();
  combined.edges[0].combined = true;
  for (const GraphShape& shape : {two_ways, cycle, combined}) {
    Lag lag;
    lag.look(seconds(1), 1, shape, std::vector<Lag::Done>(shape.nodes.size(), {5, 9}));
    CHECK(!lag.of(1));
    CHECK(!lag.to_the_sinks());
  }
}
