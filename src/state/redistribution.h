#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/engine.h"
#include "base/ids.h"
#include "store/snapshot/snapshot_store.h"

/// A job that goes on with other numbers of replicas.
namespace piracema::state {

/// What a manifest says of the nodes of a graph.
std::vector<store::NodeParts> nodes_of(const GraphShape& shape);

/// Whether `now` is the program that `before` was, but for numbers of replicas that may change:
/// those of nodes whose whole state is by key, and of nodes without a state that are no sources.
/// `layouts` are those of the snapshot. Errc::config says which node cannot, and why; without a
/// node in it if it is another program.
struct Difference {
  bool another_program = false;
  /// Empty: the job can go on.
  std::string why;
};
Difference compare(const GraphShape& before, const GraphShape& now,
                   const std::map<std::string, std::string>& layouts);

/// The replicas that a node had in a snapshot, as numbers of its parts, and how many groups.
/// Errc::corrupt if the snapshot has no such node.
struct FormerReplicas {
  ReplicaId first = 0;
  std::uint32_t count = 1;
};
Result<FormerReplicas> former_replicas(const store::Manifest& manifest, const GraphShape& now,
                                       std::uint32_t node);

}  // namespace piracema::state
