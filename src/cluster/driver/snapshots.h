#pragma once

#include <piracema/error.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/ids.h"
#include "store/snapshot/directory_store.h"

namespace piracema::cluster {

/// A job's directory of snapshots and what it begins with.
struct Beginning {
  std::unique_ptr<store::DirectoryStore> store;
  /// Keeps every other job out of the directory.
  Fd lock;
  /// The snapshot to go on from, or, for a job that starts anew, the last one of the run that
  /// ended there before.
  std::optional<store::Manifest> newest;
  bool resume = false;
  /// All that are there, oldest first.
  std::vector<SnapshotId> found;
};

/// Opens the directory of a job and finds where to begin; warns of each snapshot that is newer
/// and damaged. Never takes over what somebody may still need: Errc::config for another thing
/// than a directory of snapshots, a run that has not ended (without `resume`), nothing to resume
/// or another version, Errc::lost if all that could be resumed is damaged.
Result<Beginning> begin_in(const std::string& directory, bool resume);

/// Whether the snapshots are of the program with this graph (`runtime::encode_shape`), and removes
/// those of a run that ended. Errc::config says which program was wanted and found, or that what
/// is to be resumed has states of other `layouts` (`flow::layouts_of`) and that is not allowed.
Result<Done> accept_job(const Beginning& beginning, const std::string& graph,
                        const std::vector<std::string>& layouts = {},
                        bool allow_changed_state = false);

/// Says what no snapshot will have (`flow::unsaved_states`), a line each. Errc::config if `strict`.
Result<Done> accept_unsaved(const std::vector<std::string>& unsaved, bool strict);

/// "reader > compress x4 > writer".
std::string outline(const std::string& graph);

}  // namespace piracema::cluster
