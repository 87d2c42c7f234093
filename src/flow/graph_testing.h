#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/engine.h"

/// Small graphs and parts of them, for tests.
namespace piracema::flow::testing {

using Number = std::int64_t;

/// Code of a source, of a node and of a sink.
inline std::optional<Number> none() { return std::nullopt; }
inline Number same(const Number& n) { return n; }
inline void drop(const Number&) {}

/// A pipeline with so many replicas in each node, and what its nodes cost.
inline GraphShape pipeline_of(const std::vector<std::uint32_t>& replicas,
                              const std::vector<std::uint64_t>& costs = {}) {
  GraphShape shape;
  for (std::uint32_t i = 0; i < replicas.size(); ++i) {
    const Role role = i == 0 ? Role::source : i + 1 == replicas.size() ? Role::sink : Role::middle;
    shape.nodes.push_back({.name = "n" + std::to_string(i), .role = role, .replicas = replicas[i]});
    if (!costs.empty()) shape.nodes.back().cost_ns = costs[i];
    if (i > 0) shape.edges.push_back({.from = i - 1, .to = i});
  }
  return shape;
}

}  // namespace piracema::flow::testing
