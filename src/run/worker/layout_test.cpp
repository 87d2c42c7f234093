#include "run/worker/layout.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <optional>
#include <string>
#include <vector>

using namespace piracema;
using namespace piracema::runtime;

namespace {

/// source, replica 0 > farm, replicas 1 and 2 > sink, replica 3.
Graph farm_graph(Delivery delivery = Delivery::on_demand) {
  Graph graph = pipeline(source("numbers", [] { return std::optional<std::int64_t>(); }),
                         farm("same", 2, [](const std::int64_t& n) { return n; }),
                         sink("none", [](const std::int64_t&) {}));
  graph.shape.edges[0].delivery = delivery;
  return graph;
}

Deploy deploy_of(std::vector<Slot> placement, std::vector<std::uint32_t> replicas = {}) {
  Deploy deploy;
  deploy.epoch = 5;
  deploy.placement = std::move(placement);
  deploy.replicas = std::move(replicas);
  return deploy;
}

wire::Frame frame_of(ReplicaId from, ReplicaId to) {
  wire::Frame frame;
  frame.from = from;
  frame.to = to;
  return frame;
}

}  // namespace

TEST_CASE("a layout stays as long as the numbers and the places of replicas do") {
  const Graph graph = farm_graph();
  const Layout layout(deploy_of({0, 0, 1, 1}), graph, 0);
  CHECK(layout.since == 5);
  CHECK(layout.local_count == 2);
  CHECK(layout.graph.get() == &graph);
  CHECK(layout.fits(deploy_of({0, 0, 1, 1})));
  CHECK(layout.fits(deploy_of({0, 0, 1, 1}, {1, 2, 1})));
  CHECK_FALSE(layout.fits(deploy_of({0, 1, 1, 1})));
  CHECK_FALSE(layout.fits(deploy_of({0, 0, 1, 1}, {1, 1, 2})));
}

TEST_CASE("a layout may have other numbers of replicas than the program") {
  const Graph graph = farm_graph();
  const Layout layout(deploy_of({0, 1, 1, 0, 0}, {1, 3, 1}), graph, 1);
  CHECK(layout.plan.replicas.size() == 5);
  CHECK(layout.node(3).name == "same");
  CHECK(layout.local_count == 2);
  CHECK(graph.shape.nodes[1].replicas == 2);
}

TEST_CASE("actors are made for the replicas that run here alone") {
  const Graph graph = farm_graph();
  Layout layout(deploy_of({0, 1, 1, 0}), graph, 1);
  std::vector<std::uint32_t> made;
  layout.add_actors([&](const flow::ReplicaPlan& replica) {
    made.push_back(replica.index);
    return nullptr;
  });
  CHECK(made == std::vector<std::uint32_t>{0, 1});
  CHECK(layout.of_node[0].empty());
  CHECK(layout.of_node[1] == std::vector<ReplicaId>{1, 2});
}

TEST_CASE("a packet for a replica that is not here is refused") {
  const Graph graph = farm_graph();
  const Layout layout(deploy_of({0, 1, 1, 0}), graph, 1);
  for (const ReplicaId to : {ReplicaId{3}, ReplicaId{99}}) {
    const auto right = layout.check(0, frame_of(0, to), Packet(EndOfStream{}));
    REQUIRE_FALSE(right);
    CHECK(right.error().code == Errc::refused);
  }
}

TEST_CASE("a packet to all of a node has to come from one that broadcasts to it") {
  const Graph graph = farm_graph(Delivery::broadcast);
  const Layout layout(deploy_of({0, 1, 1, 0}), graph, 1);
  CHECK(layout.check_relayed(frame_of(0, 1)));
  CHECK_FALSE(layout.check_relayed(frame_of(0, 2)));
  CHECK_FALSE(layout.check_relayed(frame_of(1, 2)));
  CHECK_FALSE(layout.check_relayed(frame_of(99, 1)));
}
