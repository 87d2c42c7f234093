#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <vector>

#include "base/engine.h"

namespace piracema::flow {

/// Which nodes of a graph lie on cycles with each other.
class Cycles {
 public:
  /// The edges of `shape` name nodes that it has.
  explicit Cycles(const GraphShape& shape);

  /// The edge is part of a cycle: what leaves by it may come back.
  bool has(const EdgeShape& edge) const { return component_[edge.from] == component_[edge.to]; }
  /// Equal for nodes that can reach each other.
  std::uint32_t component(std::uint32_t node) const { return component_[node]; }

 private:
  std::vector<std::uint32_t> component_;
};

/// The nodes of a graph in an order in which every edge but back edges leads forward; fewer than
/// there are if that cannot be, and then those of the cycle are missing.
std::vector<std::uint32_t> in_flow_order(const GraphShape& shape);

}  // namespace piracema::flow
