#pragma once

#include <piracema/graph.h>

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "control/coordinator_settings.h"
#include "flow/plan.h"

namespace piracema::cluster {

/// What a job runs, known once its first process has joined: the graph, and where each replica
/// of it lives. Does not change while the job runs.
struct Job {
  /// As the workers sent it.
  std::string graph;
  GraphShape shape;
  flow::Plan plan;
  std::vector<Slot> placement;
  /// What the state of each node is made of; none: nobody said. "": not known.
  std::vector<std::string> layouts;

  /// Errc::corrupt or Errc::config for what is no graph, or not the one that the settings'
  /// placement is for, or their times of an earlier run.
  static Result<Job> make(const std::string& graph, const std::vector<std::uint64_t>& costs,
                          const JobSettings& settings,
                          const std::vector<std::string>& layouts = {});

  std::size_t replicas() const { return plan.replicas.size(); }
  Role role(ReplicaId replica) const { return shape.nodes[plan.replicas[replica].node].role; }
  std::vector<ReplicaId> sinks() const;
  /// Sources, and heads of cycles: no barrier may be left to come to those from others.
  bool may_begin_barriers(ReplicaId replica) const {
    return is_source(role(replica)) || plan.replicas[replica].is_head;
  }
  /// A peer may name any number.
  bool hosts(Slot slot, ReplicaId replica) const {
    return replica < placement.size() && placement[replica] == slot;
  }

  /// Of all nodes of which it is known, by name: what a manifest says.
  std::map<std::string, std::string> layouts_by_node() const;

  /// "compress/2".
  std::string name(ReplicaId replica) const;
  /// "compress/1, writer".
  std::string names_on(Slot slot) const;
  std::map<Slot, std::vector<ReplicaId>> by_slot(const std::vector<ReplicaId>&) const;
};

}  // namespace piracema::cluster
