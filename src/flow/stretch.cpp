#include "flow/stretch.h"

#include <algorithm>

namespace piracema::flow {

namespace {

bool has(const std::vector<std::uint32_t>& list, std::uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Stretch before(const GraphShape& shape, std::uint32_t end) {
  Stretch stretch{.end = end};
  std::vector<std::uint32_t> to_visit{end};
  while (!to_visit.empty()) {
    const std::uint32_t node = to_visit.back();
    to_visit.pop_back();
    for (std::uint32_t edge = 0; edge < shape.edges.size(); ++edge) {
      if (shape.edges[edge].to != node || shape.edges[edge].back) continue;
      stretch.edges.push_back(edge);
      const std::uint32_t from = shape.edges[edge].from;
      const bool starts = is_source(shape.nodes[from].role) || shape.nodes[from].ordered;
      auto& found = starts ? stretch.origins : stretch.inside;
      if (has(found, from)) continue;
      found.push_back(from);
      if (!starts) to_visit.push_back(from);
    }
  }
  return stretch;
}

// One replica everywhere on the way, one way, and nothing that comes round: FIFO channels need no
// help.
bool in_order_anyway(const GraphShape& shape, const Stretch& stretch) {
  std::vector<std::uint32_t> receivers = stretch.inside;
  receivers.push_back(stretch.end);
  return std::all_of(receivers.begin(), receivers.end(), [&](std::uint32_t node) {
    const auto ways = std::count_if(stretch.edges.begin(), stretch.edges.end(),
                                    [&](std::uint32_t e) { return shape.edges[e].to == node; });
    const bool round = node != stretch.end &&
                       std::any_of(shape.edges.begin(), shape.edges.end(),
                                   [&](const auto& edge) { return edge.to == node && edge.back; });
    return ways == 1 && shape.nodes[node].replicas == 1 && !round;
  });
}

}  // namespace

bool Stretch::starts_at(std::uint32_t node) const { return has(origins, node); }
bool Stretch::has_inside(std::uint32_t node) const { return has(inside, node); }
bool Stretch::has_edge(std::uint32_t edge) const { return has(edges, edge); }

std::vector<Stretch> stretches(const GraphShape& shape) {
  std::vector<Stretch> found;
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    if (!shape.nodes[node].ordered) continue;
    Stretch stretch = before(shape, node);
    if (!in_order_anyway(shape, stretch)) found.push_back(std::move(stretch));
  }
  return found;
}

}  // namespace piracema::flow
