#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <piracema/graph.h>

namespace piracema::flow {

/// One replica and its channels, as numbers of replicas in the plan.
struct ReplicaPlan {
  std::uint32_t node = 0;
  std::uint32_t index = 0;
  /// One channel from each of these, in this order.
  std::vector<std::uint32_t> inputs;
  /// One channel to each of these, in this order.
  std::vector<std::uint32_t> outputs;
  /// The edge that `outputs` belong to, in the graph; nothing for a sink.
  std::optional<std::uint32_t> edge;
  /// Batches that arrive carry an order that a node at or after this one goes by.
  bool ordered_input = false;
  /// Batches that leave have to carry one: a new one if the replica starts it (a source, or an
  /// ordered node before another one), else that of the batch they come from.
  bool ordered_output = false;
  bool starts_order = false;
  /// For a replica that starts an order: how many batches may be on the way to the node that goes
  /// by it.
  std::uint32_t window = 0;
  /// For an ordered node: the replicas that start the order; they learn what has arrived.
  std::vector<std::uint32_t> origins;
};

/// Every replica of a graph.
struct Plan {
  std::vector<ReplicaPlan> replicas;
};

/// `shape` is valid.
Plan make_plan(const GraphShape& shape);

/// Which process each replica runs in, spread so that the replicas of a farm come to lie on as
/// many processes as there are. `slots` is at least 1.
std::vector<std::uint32_t> place(const GraphShape& shape, const Plan& plan, std::uint32_t slots);

/// "compress/2", or "reader" for a node with one replica.
std::string replica_name(const GraphShape& shape, const ReplicaPlan& replica);

}  // namespace piracema::flow
