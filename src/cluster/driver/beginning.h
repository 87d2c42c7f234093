#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/ids.h"
#include "cluster/driver/from.h"
#include "cluster/driver/job_record.h"
#include "store/snapshot/job_store.h"

namespace piracema::cluster {

/// A job's store of snapshots and what it begins with.
struct Beginning {
  std::unique_ptr<store::JobStore> store;
  /// Keeps every other job out of it.
  std::shared_ptr<store::JobLock> lock;
  /// The snapshot to go on from, or, for a job that starts anew, the last one of the run that
  /// ended there before.
  std::optional<store::Manifest> newest;
  bool resume = false;
  /// A job whose workers may still run: it is gone on with, from nowhere else than where they are.
  std::optional<JobRecord::Found> taken_over;
  /// All that are there, oldest first.
  std::vector<SnapshotId> found;
  /// Of these: newer than the savepoint that is gone on from, and to be removed.
  std::vector<SnapshotId> discarded;
};

enum class Start {
  anew,
  resume,   ///< From the newest snapshot, or with the workers of a coordinator that was lost.
  standby,  ///< The same, once the coordinator that is there is lost.
};

/// Opens the store of a job (`store::open_store`) and finds where to begin; warns of each snapshot
/// that is newer and damaged. A standby, which wants a directory, waits there until no other
/// process has the directory, and begins with nothing if the job is over. Never takes over what
/// somebody may still need: Errc::config for another thing than a directory of snapshots, a run
/// that has not ended (without `resume`), workers that may still run and are of another number than
/// `slots`, or are not wanted (nothing), nothing to resume or another version, Errc::lost if all
/// that could be resumed is damaged. A standby that has to wait lets `wait` do so, which is told of
/// the lock's file and who has it. The store is locked for `claim`.
///
/// From a savepoint, Errc::config if there is none of the name, or newer snapshots that are not to
/// be discarded, or have a name; Errc::lost if it is damaged.
Result<Beginning> begin_in(const std::string& snapshots, Start start,
                           std::optional<std::uint32_t> slots,
                           const std::function<Result<Fd>(const std::string& lock_path,
                                                          const std::string& why)>& wait = {},
                           const From& from = {}, const store::JobClaim& claim = {});

/// As `begin_in`, of a job that is the caller's, with what its last coordinator has left. In a
/// directory whatever the lock says; another store is locked for `claim`, which the one before had,
/// too. Errc::timeout where the store does not answer.
Result<Beginning> go_on_in(const std::string& snapshots, JobRecord::Found left,
                           const store::JobClaim& claim);

/// Whatever is wrong with a place of snapshots, it is the user's choice of one that has to change.
Error as_config(const Error& error);

}  // namespace piracema::cluster
