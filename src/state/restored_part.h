#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/graph.h>

#include <optional>
#include <string>
#include <vector>

#include "base/engine.h"
#include "base/ids.h"
#include "flow/plan.h"
#include "store/snapshot/snapshot_store.h"

/// What a replica goes on from, whatever number of replicas its node had in the snapshot.
namespace piracema::state {

/// Where states by key lie.
struct WhereKeysLie {
  std::vector<store::StateUnit> units;
  /// The files that these are in, and what of them counts; none of version 2.
  std::vector<store::NamedFile> files;
};

struct RestoredPart {
  /// What it saved beside states by key; if there were as many replicas as now, its own. Nothing:
  /// its node is new in this version of the program.
  std::optional<Buffer> plain;
  /// What the snapshot says that the states of its node are made of; empty: nothing.
  std::string layout;
  /// Of the keys that it owns now, and is to read.
  WhereKeysLie keys;
};

/// Reads `plain` and finds the states by key; these are read by `store::read_units`. `shape` is
/// what the manifest's graph may go on as (`compare`). Of the groups in `there` it has all already.
/// Errors as those of the store.
Result<RestoredPart> read_part(store::SnapshotStore& store, SnapshotId snapshot,
                               const GraphShape& shape, const flow::ReplicaPlan& replica,
                               const std::vector<GroupRange>& there = {});

/// What the snapshot says that the states of a node are made of; empty: nothing.
std::string layout_of(const store::Manifest& manifest, const GraphShape& shape, std::uint32_t node);

/// Of these groups of a node, whoever had them; nothing of a node that the manifest has not. Errors
/// as those of the store.
Result<WhereKeysLie> find_keys(store::SnapshotStore& store, const store::Manifest& manifest,
                               const GraphShape& shape, const flow::ReplicaPlan& replica,
                               const std::vector<GroupRange>& groups);

}  // namespace piracema::state
