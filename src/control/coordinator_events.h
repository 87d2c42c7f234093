#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "control/hosts_of_job.h"
#include "control/messages/control.h"
#include "control/user_request.h"

/// What a coordinator is told. A process is named by its slot and its incarnation in that slot.
namespace piracema::cluster {

/// A process joined (its token and version were right). A job's first one brings the graph.
struct Joined {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  std::string address;
  std::string graph;
  /// Of its nodes; none: nobody said.
  std::vector<std::uint64_t> costs = {};
  /// What the states of its nodes are made of; none: nobody said.
  std::vector<std::string> layouts = {};
  /// Why it cannot do its work, and is about to end; empty: it can.
  std::string hindrance = {};
  /// Of the first one: operators that begin with another number of replicas than the program says.
  std::vector<std::pair<std::string, std::uint32_t>> replicas = {};
};
struct Said {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  runtime::FromWorker message;
};
/// The process is gone for certain, or could not be started. `by` says how, as "killed by signal
/// 9 (SIGKILL)".
struct Exited {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  bool clean = false;
  /// It was ended from outside (SIGKILL, SIGTERM), not by what it was doing.
  bool from_outside = false;
  std::string by;
  /// The item that each of its replicas was at work on; those that were idle are left out.
  std::vector<std::pair<ReplicaId, std::uint64_t>> at_work;
  /// A signal ended it, whoever sent that; otherwise it left by itself, or never ran.
  bool by_signal = false;
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
/// What FindSnapshot looked for is there.
struct SnapshotFound {};
/// It is not: it was moved, or removed. `why` names the directory.
struct SnapshotGone {
  std::string why;
};
/// Take a last snapshot and end with code 75.
struct StopRequested {};
/// Answered by AnswerRequest, at once.
struct UserAsked {
  /// Comes back with the answer.
  std::uint64_t id = 0;
  UserRequest request;
};
/// What NameSnapshot wanted: the name is in the store, and holds the snapshot.
struct SnapshotNamed {
  SnapshotId snapshot = 0;
};
struct SnapshotNotNamed {
  SnapshotId snapshot = 0;
  std::string why;
};
/// These processes have better places, and go there with the next snapshot; in place of those that
/// were wished before. Nothing comes of it where no snapshots are taken, or nobody can be started.
struct MovesWished {
  std::vector<Slot> slots;
  /// Their places are about to be gone: the next snapshot does not wait for its time.
  bool soon = false;
};
/// The hosts of the job have changed, all of them and where slots belong. Once the step that has
/// this is decided, the next coordinator knows them.
struct HostsListed {
  HostsOfJob now;
};
/// Time has passed: `next_deadline` was reached. What has arrived by then is told first.
struct Tick {};

using Event = std::variant<Joined, Said, Exited, ConnectionLost, SnapshotCommitted,
                           SnapshotCommitFailed, SnapshotFound, SnapshotGone, StopRequested, Tick,
                           UserAsked, MovesWished, SnapshotNamed, SnapshotNotNamed, HostsListed>;

}  // namespace piracema::cluster
