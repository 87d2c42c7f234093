#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "control/messages/control.h"
#include "flow/plan.h"
#include "run/packet/packet.h"
#include "run/replica/replica_actor.h"
#include "wire/frame.h"

namespace piracema::runtime {

/// What runs where from an epoch on, until another plan follows; and which packets may come by it.
/// Never changed once it is made, so that any thread may read it.
struct Layout {
  /// The actor for a replica that runs here.
  using ActorOf = std::function<ReplicaActor*(const flow::ReplicaPlan&)>;

  /// As `message` says, for the process in `slot`. `program` outlives it.
  Layout(const Deploy& message, const Graph& program, Slot slot)
      : Layout(message.epoch, message.placement, message.replicas, program, slot) {}
  /// What is to run by the plan that may follow.
  Layout(const ReadAhead& message, const Graph& program, Slot slot)
      : Layout(message.epoch, message.placement, message.replicas, program, slot) {}
  /// Once, before others read it.
  void add_actors(const ActorOf& actor_of);

  /// `message` changes nothing of it.
  bool fits(const Deploy& message) const;

  bool is_here(ReplicaId replica) const { return placement[replica] == here; }
  ReplicaActor* local(ReplicaId replica) const {
    return replica < replicas.size() ? replicas[replica] : nullptr;
  }
  const NodeShape& node(ReplicaId replica) const {
    return graph->shape.nodes[plan.replicas[replica].node];
  }

  /// Errc::refused for a packet that a process which is right would not have sent.
  Result<Done> check(Slot from, const wire::Frame& frame, const Packet& packet) const;
  /// The same for one that is for all replicas of a node.
  Result<Done> check_relayed(const wire::Frame& packet) const;

  const Epoch since;
  const Slot here;
  /// With the numbers of replicas of this plan.
  const std::shared_ptr<const Graph> graph;
  const flow::Plan plan;
  /// Slot of each replica.
  const std::vector<Slot> placement;
  const std::size_t local_count;
  /// Those that run here, by their numbers; null for others.
  std::vector<ReplicaActor*> replicas;
  /// Of each node, the numbers of those that run here.
  std::vector<std::vector<ReplicaId>> of_node;

 private:
  Layout(Epoch epoch, const std::vector<Slot>& placement,
         const std::vector<std::uint32_t>& replicas, const Graph& program, Slot slot);
};

}  // namespace piracema::runtime
