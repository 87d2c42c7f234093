#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "flow/placement.h"

namespace piracema::cluster {

using std::chrono::milliseconds;

/// How a job is run. Checked by `validate`.
struct JobSettings {
  /// Worker processes.
  std::uint32_t slots = 1;
  /// Take snapshots at all. Without them a worker that is lost ends the job (exit code 4).
  bool snapshots = false;
  /// Time between two barriers. Shorter means less to redo and more to write.
  milliseconds snapshot_interval{1'000};
  /// A barrier waits behind items for so long; then it overtakes them, and they are saved with the
  /// snapshot. None: it waits for as long as they take.
  std::optional<milliseconds> overtake_after{100};
  /// A snapshot that takes longer is given up; the job goes on.
  milliseconds snapshot_timeout{60'000};
  /// Complete snapshots to keep. The oldest go first; never below one.
  std::uint32_t snapshots_kept = 3;
  /// Time between two signs of life of a worker.
  milliseconds heartbeat_interval{250};
  /// A worker that is silent for longer is replaced.
  milliseconds heartbeat_timeout{1'250};
  /// A process that was started has to join within this time. Who loads its state has to get on
  /// within it, by a byte at least: that bound doubles with each recovery that fails.
  milliseconds join_timeout{30'000};
  /// A survivor that has not rolled back within this time (it is inside a long computation) is
  /// replaced like a lost one; doubles with each recovery that fails. Embedded jobs wait.
  milliseconds rollback_timeout{1'000};
  /// A replica whose operator is at one item for longer has failed by it, and its process is
  /// replaced; none: people are told of it.
  std::optional<milliseconds> stuck_after;
  /// So many failures of one node, within `restart_window` items of each other, end the job.
  std::uint32_t restart_budget = 3;
  std::uint64_t restart_window = 10;
  /// Recoveries in a row without a new snapshot or item before the job is given up.
  std::uint32_t fruitless_recoveries_max = 100;
  /// Items that use up the restart budget are skipped and written to a file, and the job goes on.
  bool dead_letters = false;
  /// Slot of every replica of the plan, where the user has said it; none: by how much they have to
  /// do (flow/placement.h).
  std::vector<Slot> placement;
  /// Without times in it, what the program says of its nodes counts.
  flow::EarlierRun earlier;
  /// The snapshot to begin with.
  std::optional<SnapshotId> resume;
  /// Snapshots in the store when the job begins. Those up to `resume` are dropped in their turn,
  /// those above it (they were refused) after the first new one; new numbers are above all.
  std::vector<SnapshotId> found;
  /// Whether processes can be started and ended; false in the embedded mode.
  bool can_spawn = true;
  /// Processes that cannot be started here come by themselves, one for each slot: mpirun has
  /// started them, and ends them all when it loses one.
  bool workers_come = false;
  /// How long a coordinator that was restored waits for the workers of its epoch before it takes
  /// those that have not come for lost.
  milliseconds attach_timeout{2'000};
  /// What all replicas of a node get goes to each process from the sender itself, not by trees
  /// between hosts.
  bool direct_broadcasts = false;
  /// Where each slot is meant to be; empty, and for those that come later: not known.
  std::vector<flow::Location> locations;

  auto fields() {
    return std::tie(slots, snapshots, snapshot_interval, snapshot_timeout, snapshots_kept,
                    heartbeat_interval, heartbeat_timeout, join_timeout, rollback_timeout,
                    stuck_after, restart_budget, restart_window, fruitless_recoveries_max,
                    dead_letters, placement, earlier.busy, resume, found, can_spawn, workers_come,
                    attach_timeout, overtake_after, direct_broadcasts, earlier.sent, locations);
  }
};

/// Errc::config, naming the setting, what it has to be and what it is.
Result<Done> validate(const JobSettings&);

}  // namespace piracema::cluster
