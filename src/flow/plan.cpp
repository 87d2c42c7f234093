#include "flow/plan.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/text.h"
#include "flow/cycles.h"
#include "flow/stretch.h"

namespace piracema::flow {

namespace {

std::vector<std::uint32_t> first_replicas(const GraphShape& shape) {
  std::vector<std::uint32_t> first;
  std::uint32_t next = 0;
  for (const NodeShape& node : shape.nodes) {
    first.push_back(next);
    next += node.replicas;
  }
  return first;
}

// Of the node at the other end, those that replica `index` of a node with `replicas` is connected
// to.
std::vector<std::uint32_t> opposite(const EdgeShape& edge, std::uint32_t index,
                                    std::uint32_t replicas, std::uint32_t first,
                                    std::uint32_t count) {
  const std::uint32_t part = index / (replicas / edge.parts);
  const std::uint32_t each = count / edge.parts;
  std::vector<std::uint32_t> found(each);
  for (std::uint32_t i = 0; i < each; ++i) found[i] = first + part * each + i;
  return found;
}

// What is known of a replica without its channels.
ReplicaPlan numbered(const GraphShape& shape, std::uint32_t node, std::uint32_t index) {
  ReplicaPlan replica{.node = node, .index = index};
  for (const EdgeShape& edge : shape.edges) {
    if (edge.to != node) continue;
    if (edge.back) replica.is_head = true;
    if (!shape.nodes[node].keyed) continue;
    replica.groups = KeyGroups(edge.key_groups);
    replica.owned = replica.groups.range_of(index, shape.nodes[node].replicas);
  }
  return replica;
}

void add_inputs(const GraphShape& shape, const Cycles& cycles,
                const std::vector<std::uint32_t>& first, ReplicaPlan& replica) {
  for (const EdgeShape& edge : shape.edges) {
    if (edge.to != replica.node) continue;
    const auto senders = opposite(edge, replica.index, shape.nodes[edge.to].replicas,
                                  first[edge.from], shape.nodes[edge.from].replicas);
    for (const std::uint32_t from : senders) {
      replica.inputs.push_back({from, edge.input, edge.back, cycles.has(edge)});
    }
  }
  std::sort(replica.inputs.begin(), replica.inputs.end(),
            [](const InputPlan& a, const InputPlan& b) { return a.from < b.from; });
}

void add_outputs(const GraphShape& shape, const Cycles& cycles,
                 const std::vector<std::uint32_t>& first, bool has_channels, ReplicaPlan& replica) {
  const NodeShape& node = shape.nodes[replica.node];
  if (!is_sink(node.role)) replica.outputs.resize(node.outputs);
  std::vector<bool> seen(replica.outputs.size());
  for (std::uint32_t e = 0; e < shape.edges.size(); ++e) {
    const EdgeShape& edge = shape.edges[e];
    if (edge.from != replica.node) continue;
    OutputPlan& output = replica.outputs[edge.output];
    if (!seen[edge.output]) {
      seen[edge.output] = true;
      output.edge = e;
      output.back = edge.back;
      output.in_cycle = cycles.has(edge);
      if (edge.delivery == Delivery::by_key) output.groups = KeyGroups(edge.key_groups);
    }
    if (!has_channels) continue;
    const auto targets =
        opposite(edge, replica.index, node.replicas, first[edge.to], shape.nodes[edge.to].replicas);
    output.targets.insert(output.targets.end(), targets.begin(), targets.end());
  }
}

void count_heads(const GraphShape& shape, const Cycles& cycles, Plan& plan) {
  std::vector<std::uint32_t> heads(shape.nodes.size());
  for (const ReplicaPlan& replica : plan.replicas) {
    if (replica.is_head) heads[cycles.component(replica.node)] += 1;
  }
  for (ReplicaPlan& replica : plan.replicas) {
    replica.heads = heads[cycles.component(replica.node)];
  }
}

// Items of a stretch carry an order. Two stretches that share an output share all of it (`validate`
// saw to that), so the number of the first one is the number of the order there.
void mark_order(const GraphShape& shape, const std::function<bool(std::uint32_t)>& has_channels,
                Plan& plan, const Stretch& stretch, std::uint32_t number) {
  std::uint32_t replicas_inside = 0;
  for (const ReplicaPlan& r : plan.replicas) replicas_inside += stretch.has_inside(r.node);
  for (std::uint32_t own = 0; own < plan.replicas.size(); ++own) {
    ReplicaPlan& replica = plan.replicas[own];
    const bool starts = stretch.starts_at(replica.node);
    if (stretch.has_inside(replica.node) || replica.node == stretch.end) {
      replica.ordered_input = true;
    }
    for (OutputPlan& output : replica.outputs) {
      if (stretch.has_edge(output.edge) && !output.order) output.order = number;
    }
    if (!starts) continue;
    replica.starts_order = true;
    // Enough for every replica on the way to hold its few batches, so that the bound is felt only
    // when one of them is far behind the others.
    const auto ends = shape.nodes[replica.node].replicas + shape.nodes[stretch.end].replicas;
    replica.window = std::max(replica.window, 16 + 4 * (replicas_inside + ends));
    if (!has_channels(own)) continue;
    for (std::uint32_t id = 0; id < plan.replicas.size(); ++id) {
      if (plan.replicas[id].node == stretch.end) replica.order_ends.push_back(id);
    }
  }
}

}  // namespace

std::optional<std::size_t> ReplicaPlan::input_from(std::uint32_t from) const {
  // Mostly the senders are one node, whose replicas follow each other.
  if (inputs.empty() || from < inputs.front().from) return std::nullopt;
  const std::size_t guess = from - inputs.front().from;
  if (guess < inputs.size() && inputs[guess].from == from) return guess;
  const auto at = std::lower_bound(
      inputs.begin(), inputs.end(), from,
      [](const InputPlan& input, std::uint32_t wanted) { return input.from < wanted; });
  if (at == inputs.end() || at->from != from) return std::nullopt;
  return static_cast<std::size_t>(at - inputs.begin());
}

bool ReplicaPlan::sends_to(std::uint32_t replica) const {
  return std::any_of(outputs.begin(), outputs.end(), [&](const OutputPlan& output) {
    return std::ranges::count(output.targets, replica) != 0;
  });
}

bool ReplicaPlan::ordered_output() const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputPlan& output) { return output.order.has_value(); });
}

Plan make_plan(const GraphShape& shape) {
  return make_plan(shape, [](std::uint32_t) { return true; });
}

Plan make_plan(const GraphShape& shape, const std::function<bool(std::uint32_t)>& has_channels) {
  ENSURE(validate(shape).ok());
  const Cycles cycles(shape);
  const auto first = first_replicas(shape);
  Plan plan;
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    for (std::uint32_t index = 0; index < shape.nodes[node].replicas; ++index) {
      ReplicaPlan replica = numbered(shape, node, index);
      const bool channels = has_channels(first[node] + index);
      if (channels) add_inputs(shape, cycles, first, replica);
      add_outputs(shape, cycles, first, channels, replica);
      plan.replicas.push_back(std::move(replica));
    }
  }
  count_heads(shape, cycles, plan);
  std::uint32_t number = 0;
  for (const Stretch& stretch : stretches(shape))
    mark_order(shape, has_channels, plan, stretch, number++);
  return plan;
}

std::string replica_name(const GraphShape& shape, const ReplicaPlan& replica) {
  const NodeShape& node = shape.nodes[replica.node];
  if (node.replicas == 1) return node.name;
  return concat(node.name, "/", replica.index);
}

}  // namespace piracema::flow
