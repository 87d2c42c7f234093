#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <map>
#include <string>
#include <vector>

#include "base/engine.h"
#include "store/snapshot/snapshot_store.h"

/// A job that goes on as another version of its program (docs/design/023).
namespace piracema::state {

/// What the operators of another version take from a snapshot. An operator is the same one if it
/// has the same name, wherever it is in the graph.
struct ProgramChange {
  /// Names of those that go on with their state, begin without one, and are no more.
  std::vector<std::string> kept, added, dropped;
  /// Of the kept ones: who gets items from others than before. It must not have ended: others would
  /// send to it after its end.
  std::vector<std::string> rewired;
  /// Empty: the job can go on. Else a sentence that names the operator.
  std::string why;
};

/// `layouts` are those of the snapshot. What had a state, was a source or may have had one is
/// dropped only if it is in `may_go`; a name in there that would not be dropped is refused too.
ProgramChange change_program(const GraphShape& before, const GraphShape& now,
                             const std::map<std::string, std::string>& layouts,
                             const std::vector<std::string>& may_go);

/// Errc::config names one of these nodes that had ended in the snapshot. Reads a part of each;
/// errors as those of the store.
Result<Done> check_not_ended(store::SnapshotStore& store, const store::Manifest& manifest,
                             const std::vector<std::string>& nodes);

}  // namespace piracema::state
