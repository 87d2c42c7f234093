#include "run/worker/states_to_come.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <optional>
#include <vector>

#include "store/snapshot/memory_store.h"

using namespace piracema;
using namespace piracema::runtime;

namespace {

/// source, replica 0 > farm > sink.
Graph graph_of(bool with_state) {
  const auto next = [] { return std::optional<std::int64_t>(); };
  const auto key = [](const std::int64_t& n) { return n; };
  const auto none = [](const std::int64_t&) {};
  if (!with_state) {
    return pipeline(source("numbers", next),
                    farm("same", 2, [](const std::int64_t& n) { return n; }).by_key(key, 64),
                    sink("none", none));
  }
  return pipeline(source("numbers", next),
                  farm("count", 2, [](const std::int64_t&, std::int64_t& count) { return ++count; })
                      .by_key(key, 64),
                  sink("none", none));
}

Deploy running(std::vector<Slot> placement, std::vector<std::uint32_t> replicas) {
  Deploy deploy;
  deploy.epoch = 1;
  deploy.placement = std::move(placement);
  deploy.replicas = std::move(replicas);
  return deploy;
}
ReadAhead coming(std::vector<Slot> placement, std::vector<std::uint32_t> replicas) {
  return {.epoch = 1,
          .snapshot = 1,
          .placement = std::move(placement),
          .replicas = std::move(replicas)};
}

/// The groups that are to be read for a replica of the next plan; nothing if there are none.
std::optional<GroupRange> wanted(StatesToCome& states, const Layout& next, ReplicaId replica) {
  const auto found = states.take(next.plan.replicas[replica]);
  return found ? std::optional(found->groups()) : std::nullopt;
}

}  // namespace

TEST_CASE("a process that has nothing yet reads all that it is to own") {
  const Graph graph = graph_of(true);
  const Layout next(coming({0, 0, 1, 2, 0}, {1, 3, 1}), graph, 2);
  StatesToCome states(next, nullptr);
  CHECK(wanted(states, next, 3) == next.plan.replicas[3].owned);
  CHECK_FALSE(wanted(states, next, 2));  // It is to be in another process.
}

TEST_CASE("what a replica owns already is not read") {
  const Graph graph = graph_of(true);
  const Layout two(running({0, 0, 1, 0}, {1, 2, 1}), graph, 1);
  SUBCASE("of more replicas each gets a part from the one before it") {
    const Layout three(coming({0, 0, 1, 2, 0}, {1, 3, 1}), graph, 1);
    StatesToCome states(three, &two);
    const GroupRange before = two.plan.replicas[2].owned, after = three.plan.replicas[2].owned;
    REQUIRE(after.first < before.first);
    CHECK(wanted(states, three, 2) == GroupRange{after.first, before.first});
  }
  SUBCASE("of fewer each gets a part from the one behind it") {
    const Layout three(running({0, 1, 0, 2, 0}, {1, 3, 1}), graph, 1);
    const Layout fewer(coming({0, 1, 0, 0}, {1, 2, 1}), graph, 1);
    StatesToCome states(fewer, &three);
    const GroupRange before = three.plan.replicas[1].owned, after = fewer.plan.replicas[1].owned;
    CHECK(wanted(states, fewer, 1) == GroupRange{before.end, after.end});
  }
  SUBCASE("one that only goes to another process has nothing there") {
    const Layout moved(coming({0, 1, 0, 0}, {1, 2, 1}), graph, 1);
    StatesToCome states(moved, &two);
    CHECK(wanted(states, moved, 1) == moved.plan.replicas[1].owned);
  }
  SUBCASE("one that stays as it is reads nothing") {
    const Layout same(coming({0, 0, 1, 0}, {1, 2, 1}), graph, 1);
    StatesToCome states(same, &two);
    CHECK_FALSE(wanted(states, same, 2));
  }
}

TEST_CASE("an operator without states by key has nothing to read") {
  const Graph graph = graph_of(false);
  const Layout next(coming({0, 0, 1, 2, 0}, {1, 3, 1}), graph, 2);
  StatesToCome states(next, nullptr);
  CHECK_FALSE(wanted(states, next, 3));
}

TEST_CASE("what was never read cannot be brought to a snapshot") {
  const Graph graph = graph_of(true);
  const Layout next(coming({0, 0, 1, 2, 0}, {1, 3, 1}), graph, 2);
  StatesToCome states(next, nullptr);
  store::MemoryStore store;
  CHECK(StatesToCome::bring(states.take(next.plan.replicas[3]), store, 1) == nullptr);
  CHECK(StatesToCome::bring(nullptr, store, 1) == nullptr);
}
