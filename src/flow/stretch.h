#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <vector>

#include "base/engine.h"

namespace piracema::flow {

/// The part of a graph between an ordered node and those that start its order: sources, and other
/// ordered nodes.
struct Stretch {
  std::uint32_t end = 0;
  std::vector<std::uint32_t> origins;
  /// Nodes between them.
  std::vector<std::uint32_t> inside;
  /// All edges on the way, as numbers.
  std::vector<std::uint32_t> edges;

  bool starts_at(std::uint32_t node) const;
  bool has_inside(std::uint32_t node) const;
  bool has_edge(std::uint32_t edge) const;
};

/// The stretches of all ordered nodes, but of those where channels keep the order by themselves:
/// chains of single replicas. `shape` has no cycles but by back edges.
std::vector<Stretch> stretches(const GraphShape& shape);

}  // namespace piracema::flow
