#include "flow/event_times.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "flow/cycles.h"
#include "flow/stretch.h"

namespace piracema::flow {

namespace {

// What comes to each replica of `node` comes from one replica, in its order, and so on back to the
// first node that `is_begin`.
template <class IsBegin>
bool comes_one_to_one(const GraphShape& shape, std::uint32_t node, const IsBegin& is_begin) {
  while (!is_begin(node)) {
    const EdgeShape* only = nullptr;
    for (const EdgeShape& edge : shape.edges) {
      if (edge.to != node) continue;
      const std::uint32_t replicas = shape.nodes[edge.from].replicas;
      const bool one_to_one = replicas == shape.nodes[node].replicas && edge.parts == replicas;
      if (only != nullptr || edge.back || !one_to_one) return false;
      only = &edge;
    }
    if (only == nullptr) return false;
    node = only->from;
  }
  return true;
}

bool is_in_cycle(const GraphShape& shape, const Cycles& cycles, std::uint32_t node) {
  return std::any_of(shape.edges.begin(), shape.edges.end(), [&](const EdgeShape& edge) {
    return cycles.has(edge) && (edge.from == node || edge.to == node);
  });
}

std::vector<bool> nodes_with_event_time(const GraphShape& shape, const Cycles& cycles) {
  std::vector<bool> has(shape.nodes.size());
  for (const std::uint32_t node : in_flow_order(shape)) {
    // What leaves a cycle may be of any time: its nodes say nothing.
    bool all = !is_source(shape.nodes[node].role) && !is_in_cycle(shape, cycles, node);
    for (const EdgeShape& edge : shape.edges) {
      if (edge.to == node) all = all && has[edge.from];
    }
    has[node] = all || shape.nodes[node].gives_event_time;
  }
  return has;
}

std::optional<std::string> obstacle_of_giver(const GraphShape& shape, std::uint32_t giver) {
  const NodeShape& node = shape.nodes[giver];
  const auto is_source_node = [&](std::uint32_t n) { return is_source(shape.nodes[n].role); };
  if (node.replicas != 1 && !comes_one_to_one(shape, giver, is_source_node)) {
    return concat("'", node.name, "' gives event time with ", node.replicas,
                  " replicas, and items reach any of them: which are late would differ from run to "
                  "run. Combine it with its source, or give it 1 replica");
  }
  for (const Stretch& stretch : stretches(shape)) {
    if (!stretch.has_inside(giver)) continue;
    const auto starts = [&](std::uint32_t n) { return stretch.starts_at(n); };
    if (comes_one_to_one(shape, giver, starts)) continue;
    return concat("'", node.name,
                  "' gives event time behind replicas that work beside each other, "
                  "and '",
                  shape.nodes[stretch.end].name,
                  "' puts their items back in order: put it before them, or say .ordered() of it");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> without_event_time(const GraphShape& shape) {
  const auto is_concerned = [](const NodeShape& node) {
    return node.gives_event_time || node.needs_event_time;
  };
  if (std::none_of(shape.nodes.begin(), shape.nodes.end(), is_concerned)) return std::nullopt;
  const Cycles cycles(shape);
  const std::vector<bool> has = nodes_with_event_time(shape, cycles);
  for (std::uint32_t n = 0; n < shape.nodes.size(); ++n) {
    const NodeShape& node = shape.nodes[n];
    if (is_concerned(node) && is_in_cycle(shape, cycles, n)) {
      return concat("'", node.name,
                    "' lies on a cycle, where there is no event time: what goes "
                    "round may be of any time");
    }
    if (node.gives_event_time) {
      if (auto why = obstacle_of_giver(shape, n)) return why;
    }
    if (!node.needs_event_time) continue;
    for (const EdgeShape& edge : shape.edges) {
      if (edge.to != n || has[edge.from]) continue;
      return concat("'", node.name, "' needs event time, and what comes to it from '",
                    shape.nodes[edge.from].name,
                    "' has none: put event_time(...) behind each source before it");
    }
  }
  return std::nullopt;
}

}  // namespace piracema::flow
