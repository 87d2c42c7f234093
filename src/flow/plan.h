#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/engine.h"

namespace piracema::flow {

/// A channel that ends at a replica.
struct InputPlan {
  std::uint32_t from = 0;
  /// As in EdgeShape.
  std::uint32_t input = 0;
  bool back = false;
  /// What comes may descend from what the replica has sent.
  bool in_cycle = false;

  bool operator==(const InputPlan&) const = default;
};

/// One output of a replica: its receivers, and who of them is chosen for an item.
struct OutputPlan {
  /// The first edge of the output, in the graph: it has the delivery and the router.
  std::uint32_t edge = 0;
  /// One channel to each of these.
  std::vector<std::uint32_t> targets;
  /// By key: which of the targets has which keys.
  KeyGroups groups;
  bool back = false;
  /// What leaves may come back.
  bool in_cycle = false;
  /// Outputs with the same number lead to the same ordered nodes, and share a batch between them;
  /// nothing where batches carry no order.
  std::optional<std::uint32_t> order;
};

/// One replica and its channels, as numbers of replicas in the plan.
struct ReplicaPlan {
  std::uint32_t node = 0;
  std::uint32_t index = 0;
  /// Where its node has a state for each key: how these are put into groups, and which are its own.
  KeyGroups groups;
  GroupRange owned;
  /// By rising numbers of their senders; no sender has two channels to one replica.
  std::vector<InputPlan> inputs;
  /// As many as the node has outputs; none for a sink.
  std::vector<OutputPlan> outputs;
  /// Batches that arrive, but by a back edge, carry an order that a node at or after this one
  /// goes by.
  bool ordered_input = false;
  /// The replica gives batches their numbers: a source, or an ordered node before another one.
  bool starts_order = false;
  /// For a replica that starts an order: how many batches may be on the way to the nodes that go
  /// by it, and the replicas of those nodes.
  std::uint32_t window = 0;
  std::vector<std::uint32_t> order_ends;
  /// Some input is by a back edge: here barriers go round, and the end of the cycle is found.
  bool is_head = false;
  /// For a replica of a cycle: how many replicas are heads of it.
  std::uint32_t heads = 0;

  /// The input from replica `from`, if there is one.
  std::optional<std::size_t> input_from(std::uint32_t from) const;
  bool sends_to(std::uint32_t replica) const;
  /// Some output carries an order.
  bool ordered_output() const;
  /// Barriers may pass items that wait here: what carries an order has to be whole at a barrier,
  /// and a cycle has a log of its own.
  bool may_overtake() const { return heads == 0 && !ordered_input && !ordered_output(); }
};

/// Every replica of a graph.
struct Plan {
  std::vector<ReplicaPlan> replicas;
};

/// `shape` is valid.
Plan make_plan(const GraphShape& shape);
/// The same, but only these replicas have channels: `inputs`, the targets of `outputs`, and
/// `order_ends`. All channels of a job are more than one of its processes should have to hold.
Plan make_plan(const GraphShape& shape, const std::function<bool(std::uint32_t)>& has_channels);

/// "compress/2", or "reader" for a node with one replica.
std::string replica_name(const GraphShape& shape, const ReplicaPlan& replica);

}  // namespace piracema::flow
