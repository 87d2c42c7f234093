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

struct RestoredPart {
  /// What it saved beside states by key; if there were as many replicas as now, its own. Nothing:
  /// its node is new in this version of the program.
  std::optional<Buffer> plain;
  /// What the snapshot says that the states of its node are made of; empty: nothing.
  std::string layout;
  /// Where the states of the keys lie that it owns now and that were not kept.
  std::vector<store::StateUnit> units;
  /// The files that these are in, and what of them counts; none of version 2.
  std::vector<store::NamedFile> files;
};

/// Reads `plain` and finds the states by key; these are read by `store::read_units`. `shape` is
/// what the manifest's graph may go on as (`compare`). Of the groups in `kept` it has all already.
/// Errors as those of the store.
Result<RestoredPart> read_part(store::SnapshotStore& store, SnapshotId snapshot,
                               const GraphShape& shape, const flow::ReplicaPlan& replica,
                               GroupRange kept = {});

}  // namespace piracema::state
