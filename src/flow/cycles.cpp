#include "flow/cycles.h"

#include <algorithm>

namespace piracema::flow {

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// Who can be reached from `start`, along the edges or against them.
std::vector<bool> reached(const GraphShape& shape, std::uint32_t start, bool forward) {
  std::vector<bool> seen(shape.nodes.size());
  std::vector<std::uint32_t> to_visit{start};
  seen[start] = true;
  while (!to_visit.empty()) {
    const std::uint32_t node = to_visit.back();
    to_visit.pop_back();
    for (const EdgeShape& edge : shape.edges) {
      if ((forward ? edge.from : edge.to) != node) continue;
      const std::uint32_t next = forward ? edge.to : edge.from;
      if (!seen[next]) to_visit.push_back(next);
      seen[next] = true;
    }
  }
  return seen;
}

}  // namespace

// Two nodes are in one component if each reaches the other. Graphs are small, so that the plain way
// will do; only nodes at the end of a back edge can begin a component of several.
Cycles::Cycles(const GraphShape& shape) : component_(shape.nodes.size(), none) {
  for (const EdgeShape& edge : shape.edges) {
    if (!edge.back || component_[edge.to] != none) continue;
    const auto after = reached(shape, edge.to, true), before = reached(shape, edge.to, false);
    for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
      if (after[node] && before[node]) component_[node] = edge.to;
    }
  }
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    if (component_[node] == none) component_[node] = node;
  }
}

std::vector<std::uint32_t> in_flow_order(const GraphShape& shape) {
  std::vector<std::uint32_t> missing(shape.nodes.size());
  for (const EdgeShape& edge : shape.edges) {
    if (!edge.back) missing[edge.to] += 1;
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    if (missing[node] == 0) order.push_back(node);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const EdgeShape& edge : shape.edges) {
      if (edge.from != order[at] || edge.back) continue;
      if (--missing[edge.to] == 0) order.push_back(edge.to);
    }
  }
  return order;
}

}  // namespace piracema::flow
