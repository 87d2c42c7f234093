#include "flow/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "flow/graph_testing.h"

using namespace piracema;
using flow::make_plan;
using flow::testing::pipeline_of;

namespace {

using Ids = std::vector<std::uint32_t>;

Ids senders(const flow::Plan& plan, std::uint32_t replica) {
  Ids ids;
  for (const auto& input : plan.replicas[replica].inputs) ids.push_back(input.from);
  return ids;
}
Ids receivers(const flow::Plan& plan, std::uint32_t replica, std::uint32_t output = 0) {
  return plan.replicas[replica].outputs.at(output).targets;
}

}  // namespace

TEST_CASE("every replica of a node has a channel to every replica of the next") {
  const auto plan = make_plan(pipeline_of({2, 3, 1}));
  REQUIRE(plan.replicas.size() == 6);
  CHECK(receivers(plan, 0) == Ids{2, 3, 4});
  CHECK(senders(plan, 3) == Ids{0, 1});
  CHECK(receivers(plan, 3) == Ids{5});
  CHECK(senders(plan, 5) == Ids{2, 3, 4});
  CHECK(plan.replicas[5].outputs.empty());
}

TEST_CASE("batches carry an order from the sources to the node that goes by it, and no further") {
  GraphShape shape = pipeline_of({1, 4, 1, 2, 1});
  shape.nodes[2].ordered = true;
  const auto plan = make_plan(shape);
  const auto& source = plan.replicas[0];
  const auto& worker = plan.replicas[1];
  const auto& collector = plan.replicas[5];
  CHECK(source.starts_order);
  CHECK(source.window >= 4);
  CHECK(worker.ordered_input);
  CHECK(worker.ordered_output());
  CHECK_FALSE(worker.starts_order);
  CHECK(collector.ordered_input);
  CHECK_FALSE(collector.ordered_output());
  CHECK(source.order_ends == Ids{5});
}

TEST_CASE("an ordered node starts the order for the next ordered one") {
  GraphShape shape = pipeline_of({1, 4, 1, 2, 1});
  shape.nodes[2].ordered = true;
  shape.nodes[4].ordered = true;
  const auto plan = make_plan(shape);
  const auto& collector = plan.replicas[5];
  CHECK(collector.starts_order);
  CHECK(collector.order_ends == Ids{8});
}

TEST_CASE("a chain of single replicas keeps its order without any help") {
  GraphShape shape = pipeline_of({1, 1, 1});
  shape.nodes[2].ordered = true;
  for (const auto& replica : make_plan(shape).replicas) {
    CHECK_FALSE(replica.ordered_input);
    CHECK_FALSE(replica.ordered_output());
  }
}

TEST_CASE("an edge of several parts connects replicas of the same part alone") {
  GraphShape shape = pipeline_of({2, 4, 1});
  shape.edges[0].parts = 2;
  const auto plan = make_plan(shape);
  CHECK(receivers(plan, 0) == Ids{2, 3});
  CHECK(receivers(plan, 1) == Ids{4, 5});
  CHECK(senders(plan, 5) == Ids{1});
}

TEST_CASE("edges of one output lead to one set of receivers, those of another to their own") {
  GraphShape shape = pipeline_of({1, 2, 3, 1});
  shape.edges = {
      {.from = 0, .to = 1}, {.from = 0, .to = 2}, {.from = 1, .to = 3}, {.from = 2, .to = 3}};
  auto plan = make_plan(shape);
  CHECK(receivers(plan, 0) == Ids{1, 2, 3, 4, 5});
  CHECK(senders(plan, 6) == Ids{1, 2, 3, 4, 5});
  shape.nodes[0].outputs = 2;
  shape.edges[1].output = 1;
  plan = make_plan(shape);
  CHECK(receivers(plan, 0, 0) == Ids{1, 2});
  CHECK(receivers(plan, 0, 1) == Ids{3, 4, 5});
}

TEST_CASE("ways that meet again at an ordered node share one order") {
  GraphShape shape = pipeline_of({1, 1, 1, 1});
  shape.nodes[0].outputs = 2;
  shape.nodes[3].ordered = true;
  shape.edges = {{.from = 0, .to = 1},
                 {.from = 0, .to = 2, .output = 1},
                 {.from = 1, .to = 3},
                 {.from = 2, .to = 3}};
  const auto plan = make_plan(shape);
  CHECK(plan.replicas[0].starts_order);
  CHECK(plan.replicas[0].outputs[0].order == plan.replicas[0].outputs[1].order);
  CHECK(plan.replicas[3].ordered_input);
}

TEST_CASE("a replica with a back edge is the head of its cycle") {
  GraphShape shape = pipeline_of({1, 1, 2, 1});
  shape.nodes[2].outputs = 2;
  shape.edges.push_back({.from = 2, .to = 1, .output = 1, .back = true});
  const auto plan = make_plan(shape);
  CHECK(plan.replicas[1].is_head);
  CHECK(plan.replicas[1].heads == 1);
  CHECK(plan.replicas[2].heads == 1);
  CHECK_FALSE(plan.replicas[2].is_head);
  CHECK(plan.replicas[4].heads == 0);
  CHECK(plan.replicas[2].outputs[1].in_cycle);
  CHECK_FALSE(plan.replicas[2].outputs[0].in_cycle);
}

TEST_CASE("channels are made of those replicas alone that somebody wants, and are the same") {
  GraphShape shape = pipeline_of({2, 2, 3, 2});
  shape.nodes[2].outputs = 2;
  shape.edges.push_back({.from = 2, .to = 1, .output = 1, .back = true});
  const auto whole = make_plan(shape);
  const auto part = make_plan(shape, [](std::uint32_t replica) { return replica % 3 == 0; });
  REQUIRE(part.replicas.size() == whole.replicas.size());
  for (std::uint32_t id = 0; id < whole.replicas.size(); ++id) {
    CAPTURE(id);
    const auto& one = part.replicas[id];
    const auto& same = whole.replicas[id];
    CHECK(
        std::tie(one.node, one.index, one.is_head, one.heads, one.window, one.starts_order) ==
        std::tie(same.node, same.index, same.is_head, same.heads, same.window, same.starts_order));
    REQUIRE(one.outputs.size() == same.outputs.size());
    CHECK(one.inputs == (id % 3 == 0 ? same.inputs : std::vector<flow::InputPlan>()));
    for (std::uint32_t output = 0; output < one.outputs.size(); ++output) {
      CHECK(receivers(part, id, output) == (id % 3 == 0 ? receivers(whole, id, output) : Ids()));
      CHECK(one.outputs[output].edge == same.outputs[output].edge);
      CHECK(one.outputs[output].in_cycle == same.outputs[output].in_cycle);
    }
  }

  GraphShape ordered = pipeline_of({3, 4, 1});
  ordered.nodes[2].ordered = true;
  const auto first = make_plan(ordered, [](std::uint32_t replica) { return replica == 0; });
  CHECK(first.replicas[0].order_ends == make_plan(ordered).replicas[0].order_ends);
  CHECK(first.replicas[1].order_ends.empty());
  CHECK(first.replicas[1].window == first.replicas[0].window);
}

TEST_CASE("a replica is named by its node, and its number where there are several") {
  const GraphShape shape = pipeline_of({1, 3, 1});
  const auto plan = make_plan(shape);
  CHECK(flow::replica_name(shape, plan.replicas[0]) == "n0");
  CHECK(flow::replica_name(shape, plan.replicas[2]) == "n1/1");
}

TEST_CASE("the replicas of a node with a state for each key share its groups") {
  GraphShape shape = pipeline_of({1, 3, 1});
  shape.edges[0].delivery = Delivery::by_key;
  shape.edges[0].key_groups = 16;
  CHECK(make_plan(shape).replicas[1].owned.count() == 0);
  shape.nodes[1].keyed = true;
  const auto plan = make_plan(shape);
  CHECK(plan.replicas[0].outputs[0].groups.count() == 16);
  CHECK(plan.replicas[1].groups.count() == 16);
  CHECK(plan.replicas[1].owned == GroupRange{0, 6});
  CHECK(plan.replicas[2].owned == GroupRange{6, 11});
  CHECK(plan.replicas[3].owned == GroupRange{11, 16});
}
