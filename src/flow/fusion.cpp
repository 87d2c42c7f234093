#include <piracema/graph.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "flow/cycles.h"
#include "flow/fused_operator.h"

namespace piracema::engine {

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

// To pass an item on costs its sender and its receiver about so much each, when it is small and has
// company: it is copied into a batch and read out of it. Two threads need the larger of their costs
// and this for an item; one needs the sum of their costs. So one is not slower while the smaller
// cost is not above this, however many cores are free.
constexpr std::uint64_t hop_ns = 30;

std::size_t edges_from(const GraphShape& shape, std::uint32_t node) {
  return static_cast<std::size_t>(std::count_if(shape.edges.begin(), shape.edges.end(),
                                                [&](const auto& e) { return e.from == node; }));
}
std::size_t edges_to(const GraphShape& shape, std::uint32_t node) {
  return static_cast<std::size_t>(std::count_if(shape.edges.begin(), shape.edges.end(),
                                                [&](const auto& e) { return e.to == node; }));
}

/// Why the nodes of an edge cannot be one; nothing if they can.
std::optional<std::string> obstacle(const GraphShape& shape, const EdgeShape& edge) {
  const NodeShape& from = shape.nodes[edge.from];
  const NodeShape& to = shape.nodes[edge.to];
  for (const NodeShape* node : {&from, &to}) {
    if (!node->fusible) return concat("'", node->name, "' is no block");
  }
  if (from.replicas != to.replicas || edge.parts != from.replicas) {
    return concat("'", from.name, "' has ", from.replicas, " replicas and '", to.name, "' ",
                  to.replicas, ": replicas have to lead to each other one to one");
  }
  if (edge.back || edges_from(shape, edge.from) != 1 || from.outputs != 1) {
    return concat("'", from.name, "' leads to others as well");
  }
  if (edges_to(shape, edge.to) != 1 || to.inputs != 1) {
    return concat("'", to.name, "' has other inputs as well");
  }
  if (to.keyed) return concat("'", to.name, "' has a state for each key");
  if (edge.delivery == Delivery::scatter) return concat("'", to.name, "' gets slices of items");
  return std::nullopt;
}

/// The nodes that become one, each chain in its order. Every node is in one of them.
using Chains = std::vector<std::vector<std::uint32_t>>;

Result<Chains> chains_of(const GraphShape& shape, bool all) {
  std::vector<std::uint32_t> next(shape.nodes.size(), none);
  std::vector<bool> has_before(shape.nodes.size());
  for (const EdgeShape& edge : shape.edges) {
    if (!edge.combined && !all) continue;
    if (const auto why = obstacle(shape, edge)) {
      if (!edge.combined) continue;
      return Error{Errc::config, concat("graph: '", shape.nodes[edge.from].name, "' and '",
                                        shape.nodes[edge.to].name, "' cannot be combined: ", *why)};
    }
    next[edge.from] = edge.to;
    has_before[edge.to] = true;
  }
  Chains chains;
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    if (has_before[node]) continue;
    chains.emplace_back();
    for (std::uint32_t at = node; at != none; at = next[at]) chains.back().push_back(at);
  }
  return chains;
}

std::string unsaved_of(const GraphShape& shape, const std::vector<std::uint32_t>& chain) {
  if (chain.size() == 1) return shape.nodes[chain.front()].unsaved;
  std::string all;
  for (const std::uint32_t i : chain) {
    const NodeShape& node = shape.nodes[i];
    if (node.unsaved.empty()) continue;
    all += concat(all.empty() ? "" : "; ", "'", node.name, "': ", node.unsaved);
  }
  return all;
}

NodeShape fused_node(const GraphShape& shape, const std::vector<std::uint32_t>& chain) {
  NodeShape node = shape.nodes[chain.front()];
  const NodeShape& last = shape.nodes[chain.back()];
  if (is_sink(last.role)) node.role = is_source(node.role) ? Role::whole : Role::sink;
  node.output = last.output;
  node.outputs = last.outputs;
  node.unsaved = unsaved_of(shape, chain);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const NodeShape& more = shape.nodes[chain[i]];
    node.name += "+" + more.name;
    node.saves_state = node.saves_state && more.saves_state;
    node.has_state = node.has_state || more.has_state;
    node.gives_event_time = node.gives_event_time || more.gives_event_time;
    // One who said nothing may cost anything.
    node.cost_ns = node.cost_ns == 0 || more.cost_ns == 0 ? 0 : node.cost_ns + more.cost_ns;
    // Its items come from one replica of the node before, as they come to that one.
    node.ordered = node.ordered || more.ordered;
  }
  if (is_source(node.role)) node.ordered = false;
  return node;
}

GraphShape shape_of(const GraphShape& shape, const Chains& chains,
                    std::vector<std::uint32_t>* edges_left) {
  GraphShape fused;
  std::vector<std::uint32_t> chain_of(shape.nodes.size());
  for (const auto& chain : chains) {
    for (const std::uint32_t node : chain) {
      chain_of[node] = static_cast<std::uint32_t>(fused.nodes.size());
    }
    fused.nodes.push_back(fused_node(shape, chain));
  }
  for (std::uint32_t e = 0; e < shape.edges.size(); ++e) {
    EdgeShape edge = shape.edges[e];
    const auto& chain = chains[chain_of[edge.from]];
    // Within a chain only edges from a node to the next one are gone: the last may lead back.
    if (chain_of[edge.from] == chain_of[edge.to] && edge.from != chain.back()) continue;
    edge.from = chain_of[edge.from];
    edge.to = chain_of[edge.to];
    fused.edges.push_back(edge);
    if (edges_left != nullptr) edges_left->push_back(e);
  }
  return fused;
}

}  // namespace

void combine_cheap(GraphShape& shape) {
  // Of all that is combined with a node so far.
  std::vector<std::uint64_t> cost(shape.nodes.size());
  for (std::size_t i = 0; i < cost.size(); ++i) cost[i] = shape.nodes[i].cost_ns;
  for (const std::uint32_t node : flow::in_flow_order(shape)) {
    for (EdgeShape& edge : shape.edges) {
      if (edge.from != node || obstacle(shape, edge)) continue;
      const std::uint64_t before = cost[edge.from], after = cost[edge.to];
      if (before == 0 || after == 0) continue;
      if (!edge.combined && std::min(before, after) > hop_ns) continue;
      edge.combined = true;
      cost[edge.to] = before + after;
    }
  }
}

Result<GraphShape> fuse(const GraphShape& shape, bool all) {
  const auto chains = chains_of(shape, all);
  if (!chains) return chains.error();
  return shape_of(shape, *chains, nullptr);
}

Result<Graph> fuse(const Graph& graph, bool all) {
  const auto chains = chains_of(graph.shape, all);
  if (!chains) return chains.error();
  Graph fused;
  std::vector<std::uint32_t> edges_left;
  fused.shape = shape_of(graph.shape, *chains, &edges_left);
  for (const std::uint32_t edge : edges_left) fused.routers.push_back(graph.routers[edge]);
  for (const auto& chain : *chains) {
    if (chain.size() == 1) {
      fused.code.push_back(graph.code[chain[0]]);
      continue;
    }
    std::vector<flow::FusedOperator::Part> parts;
    for (const std::uint32_t node : chain) {
      parts.push_back({graph.shape.nodes[node].name, graph.code[node]});
    }
    fused.code.push_back(
        [parts = std::move(parts)] { return std::make_unique<flow::FusedOperator>(parts); });
  }
  return fused;
}

}  // namespace piracema::engine
