#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <cstdint>
#include <map>
#include <optional>
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

/// Why a node, which may have moved in the graph, cannot go on with another number of replicas;
/// "" if it can, or has as many as before.
std::string why_not_other_number(const GraphShape& before, std::uint32_t node_before,
                                 const GraphShape& now, std::uint32_t node,
                                 const std::map<std::string, std::string>& layouts);

/// What is under way in a cycle is saved by the numbers of those who sent it.
bool has_cycle(const GraphShape& shape);

/// Bytes of items that a snapshot has because they were under way: overtaken by its barrier, or in
/// a cycle. Reads all parts, but for states by key.
Result<std::uint64_t> bytes_under_way(store::SnapshotStore& store, const store::Manifest& manifest);

/// There are none: they are saved by the numbers of the replicas between which they were under way.
/// Errc::config says what to do if there are.
Result<Done> check_nothing_under_way(store::SnapshotStore& store, const store::Manifest& manifest);

/// Into how many groups the keys of a node are put that has a state for each; else 0.
std::uint32_t key_groups_of(const GraphShape& shape, std::uint32_t node);

/// The replicas that a node had in a snapshot, as numbers of its parts; nothing if it was not a
/// node of the program then.
struct FormerReplicas {
  ReplicaId first = 0;
  std::uint32_t count = 1;
};
std::optional<FormerReplicas> former_replicas(const store::Manifest& manifest,
                                              const GraphShape& now, std::uint32_t node);

}  // namespace piracema::state
