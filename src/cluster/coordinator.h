#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <piracema/graph.h>

#include "base/clock.h"
#include "base/ids.h"
#include "flow/plan.h"
#include "run/control.h"
#include "store/snapshot_store.h"

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
  /// A snapshot that takes longer is given up; the job goes on.
  milliseconds snapshot_timeout{60'000};
  /// Complete snapshots to keep. The oldest go first.
  std::uint32_t snapshots_kept = 3;
  /// Time between two signs of life of a worker.
  milliseconds heartbeat_interval{250};
  /// A worker that is silent for longer is replaced.
  milliseconds heartbeat_timeout{1'250};
  /// A worker has to join within this time after it was started.
  milliseconds join_timeout{30'000};
  /// A survivor that has not rolled back within this time (it is inside a long computation) is
  /// replaced like a lost one. Not for a job of one process, which waits.
  milliseconds rollback_timeout{1'000};
  /// So many failures of one node, within `restart_window` items of each other, end the job.
  std::uint32_t restart_budget = 3;
  std::uint64_t restart_window = 10;
  /// Recoveries in a row without a new snapshot before the job is given up.
  std::uint32_t fruitless_recoveries_max = 100;
  /// Items that use up the restart budget are skipped and written to a file, and the job goes on.
  bool dead_letters = false;
  /// The snapshot to begin with.
  std::optional<SnapshotId> resume;
  /// Whether processes can be started and ended; false in the embedded mode.
  bool can_spawn = true;
};
Result<Done> validate(const JobSettings&);

// ---- what a coordinator is told ------------------------------------------------------------

/// A process joined (its token and version were right). A job's first one brings the graph.
struct Joined {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  std::string address;
  std::string graph;
};
struct Said {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  run::FromWorker message;
};
/// The process is gone for certain. `by` says how, as "killed by signal 9 (SIGKILL)".
struct Exited {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  bool clean = false;
  /// It was ended from outside (SIGKILL, SIGTERM), not by what it was doing.
  bool from_outside = false;
  std::string by;
  /// The item that each of its replicas was at work on, by replica; empty where none.
  std::vector<std::pair<ReplicaId, std::uint64_t>> at_work;
};
/// The connection ended; the process may be alive.
struct ConnectionLost {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
};
struct SnapshotCommitted {
  SnapshotId snapshot = 0;
};
struct SnapshotCommitFailed {
  SnapshotId snapshot = 0;
  std::string why;
};
/// Take a last snapshot, drain and end with code 75.
struct StopRequested {};
struct Tick {};

using Event = std::variant<Joined, Said, Exited, ConnectionLost, SnapshotCommitted,
                           SnapshotCommitFailed, StopRequested, Tick>;

// ---- what it wants done --------------------------------------------------------------------

struct Spawn {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
};
/// End the process for certain; `Exited` follows once that is so.
struct Kill {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
};
struct Send {
  Slot slot = 0;
  run::ToWorker message;
};
/// Write the manifest; answered by SnapshotCommitted or SnapshotCommitFailed.
struct CommitSnapshot {
  store::Manifest manifest;
};
struct DropSnapshot {
  SnapshotId snapshot = 0;
};
/// Write the item that was skipped to the dead-letter file (the worker does), tell the user.
struct Finish {
  int code = 0;
  std::string why;
};

/// What happened, for people and statistics.
struct Lost {
  Slot slot = 0;
  /// "its process ended: killed by signal 9", "its connection ended", "no heartbeat for 1250 ms".
  std::string how;
  /// Names of its replicas.
  std::string replicas;
};
struct Recovering {
  Epoch epoch = 0;
  std::optional<SnapshotId> restore;
  /// Items that the sources had emitted since that snapshot.
  std::uint64_t redone = 0;
};
struct Running {
  Epoch epoch = 0;
};
struct FirstItemOut {
  Epoch epoch = 0;
};
struct SnapshotTaken {
  SnapshotId snapshot = 0;
  std::uint64_t bytes = 0;
  Time took{};
};
struct SnapshotAborted {
  SnapshotId snapshot = 0;
  std::string why;
};
struct ItemSkipped {
  std::uint32_t node = 0;
  std::uint64_t item = 0;
};
using Note = std::variant<Lost, Recovering, Running, FirstItemOut, SnapshotTaken, SnapshotAborted,
                          ItemSkipped>;
struct Tell {
  Note note;
};

using Action = std::variant<Spawn, Kill, Send, CommitSnapshot, DropSnapshot, Finish, Tell>;

}  // namespace piracema::cluster
