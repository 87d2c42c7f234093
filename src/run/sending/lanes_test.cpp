#include "run/sending/lanes.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "run/sending/testing.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;

namespace {

/// The lanes of replica 0 of a graph; what is full stays.
class Open final : public Lanes {
 public:
  explicit Open(const Graph& graph, const SendOptions& options = {})
      : Lanes(flow::make_plan(graph.shape).replicas[0], graph, options) {}

  using Lanes::begin_positions;
  using Lanes::close;
  using Lanes::filled;
  using Lanes::heard;
  using Lanes::is_open;
  using Lanes::is_ordered;
  using Lanes::lingered;
  using Lanes::orders;
  using Lanes::outputs;
  using Lanes::place_of;
  using Lanes::splits;

  std::vector<std::size_t> full;

 private:
  void lane_full(std::size_t lane) override { full.push_back(lane); }
  bool skip(Bytes) override { return false; }
};

Graph unordered_graph(std::uint32_t workers, BatchLimits batch = {}) {
  return pipeline(source("numbers", nothing), farm("same", workers, same).batch(batch),
                  sink("none", forget));
}

Graph ordered_graph(std::uint32_t workers) {
  return pipeline(source("numbers", nothing), farm("same", workers, same),
                  sink("none", forget).ordered());
}

}  // namespace

TEST_CASE("what any receiver may get collects in the lane behind those of each") {
  const Graph graph = unordered_graph(3);
  Open lanes(graph);
  REQUIRE(lanes.outputs() == 1);
  CHECK_FALSE(lanes.is_open(0));
  lanes.emit(std::int64_t{7});
  CHECK(lanes.is_open(0));
  CHECK(lanes.full == std::vector<std::size_t>{3});
  CHECK(lanes.place_of(3).receiver == 3);
  CHECK(lanes.place_of(1).receiver == 1);
  CHECK(lanes.items_sent() == 0);
  CHECK(lanes.close(3).count == 1);
  CHECK_FALSE(lanes.is_open(0));
  CHECK(lanes.items_sent() == 1);
  CHECK(lanes.bytes_sent() == 8);
}

TEST_CASE("a batch grows with what is heard of those who follow") {
  const Graph graph = unordered_graph(1);
  Open lanes(graph);
  CHECK(lanes.downstream_ns_per_item() == 0);
  lanes.heard(0, 1'000);
  CHECK(lanes.downstream_ns_per_item() == 1'000);
  lanes.emit(std::int64_t{1});
  CHECK(lanes.full.empty());
  lanes.emit(std::int64_t{2});
  CHECK(lanes.full.size() == 1);
}

TEST_CASE("an item waits for company for as long as its edge says, from the last time on") {
  const Graph graph = unordered_graph(1, {.linger = std::chrono::microseconds(300)});
  Open lanes(graph);
  const Time begin = std::chrono::seconds(1);
  CHECK(lanes.lingered(0, begin));
  CHECK_FALSE(lanes.lingered(0, begin + std::chrono::microseconds(299)));
  CHECK(lanes.lingered(0, begin + std::chrono::microseconds(300)));
  CHECK_FALSE(lanes.lingered(0, begin + std::chrono::microseconds(599)));
}

TEST_CASE("a batch of an order is in the lanes that hold something, or in one that holds nothing") {
  const Graph graph = ordered_graph(2);
  Open lanes(graph);
  REQUIRE(lanes.orders() == std::vector<std::uint32_t>{0});
  CHECK(lanes.is_ordered(0));
  CHECK_FALSE(lanes.splits(0));
  lanes.begin_positions(false);
  CHECK(lanes.filled(0) == std::vector<std::size_t>{2});
  lanes.emit_to(0, 0, std::int64_t{1});
  CHECK(lanes.filled(0) == std::vector<std::size_t>{0});
  lanes.emit_to(0, 1, std::int64_t{2});
  CHECK(lanes.filled(0) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("a batch that stays whole loses positions that say no more than its order") {
  const Graph graph = ordered_graph(2);
  Open lanes(graph);
  Batch from;
  from.add(0, std::int64_t{5});
  from.positions = {4};
  lanes.begin_positions(true);
  lanes.begin_item(from, 0, {});
  lanes.emit(std::int64_t{5});
  lanes.filled(0);
  CHECK(lanes.close(2).positions == std::vector<std::uint32_t>{4});
  lanes.begin_positions(false);
  lanes.emit(std::int64_t{6});
  lanes.filled(0);
  CHECK(lanes.close(2).positions.empty());
}

TEST_CASE("a sink has no output, and a lane all the same") {
  const Graph graph = unordered_graph(1);
  const flow::Plan plan = flow::make_plan(graph.shape);
  class OfSink final : public Lanes {
   public:
    OfSink(const flow::ReplicaPlan& of, const Graph& in) : Lanes(of, in, {}) {}
    using Lanes::outputs;
    void lane_full(std::size_t) override {}
    bool skip(Bytes) override { return false; }
  };
  OfSink lanes(plan.replicas[2], graph);
  CHECK(lanes.outputs() == 0);
  lanes.emit(std::int64_t{1});
}
