#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/decision.h"
#include "control/loss_cause.h"
#include "control/messages/control.h"
#include "store/snapshot/snapshot_store.h"

/// What a coordinator wants done, in this order. Each may be done twice without harm: whoever takes
/// a job over does not know which of them its predecessor has done.
namespace piracema::cluster {

/// What the step has decided, always before all else. Where decisions are kept in a log nothing
/// that follows is done before they are in it.
struct Decide {
  std::vector<Decision> decisions;
};
/// Start a process. `Joined` follows, or `Exited` also when it could not be started.
struct Spawn {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
};
/// End the process for certain; `Exited` follows once that is so. It may be gone already.
struct Kill {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
};
/// To this incarnation and no other; dropped when its connection has ended.
struct Send {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  runtime::ToWorker message;
};
/// Write the manifest (the driver fills in `created`); answered by SnapshotCommitted or
/// SnapshotCommitFailed, always: until then no recovery can tell what to go back to.
struct CommitSnapshot {
  store::Manifest manifest;
};
/// May name a snapshot that was given up and is there in parts or not at all. Done in order with
/// CommitSnapshot; nothing is answered.
struct DropSnapshot {
  SnapshotId snapshot = 0;
};
/// Look whether a recovery can go back to this snapshot, or, where none is named, whether there is
/// a store to begin in. Answered by SnapshotFound or SnapshotGone, always.
struct FindSnapshot {
  std::optional<SnapshotId> snapshot;
};
/// Give a complete snapshot a name, which keeps it. Done in order with CommitSnapshot and
/// DropSnapshot; answered by SnapshotNamed or SnapshotNotNamed, always.
struct NameSnapshot {
  SnapshotId snapshot = 0;
  std::string name;
};
/// The job is over; nothing follows. Processes that could be ended were; the driver reaps them.
struct Finish {
  int code = 0;
  std::string why;
};

/// To a UserAsked. `accepted`: it is begun, or there is nothing to do (`done`); ScaleEnded or
/// SavepointEnded tells how it ends. Else `why`, and `later` if the same may be asked again.
struct AnswerRequest {
  std::uint64_t id = 0;
  bool accepted = false, done = false, later = false;
  std::string why;
};

// ---- what happened, for people and statistics ----------------------------------------------

struct Lost {
  Slot slot = 0;
  /// "its process ended: killed by signal 9", "its connection ended", "no heartbeat for 1250 ms".
  std::string how;
  /// Names of its replicas.
  std::string replicas;
  LossCause cause = LossCause::other;
};
/// A user's operator threw; its process lives and is rolled back with the others.
struct ReplicaFailed {
  ReplicaId replica = 0;
  std::string name;
  std::optional<std::uint64_t> item;
  std::string why;
};
/// The survivors roll back, the replacements load.
struct Recovering {
  Epoch epoch = 0;
  std::optional<SnapshotId> restore;
  /// Items that the sources had emitted since that snapshot; as old as their last heartbeats.
  std::uint64_t redone = 0;
};
struct Running {
  Epoch epoch = 0;
};
/// A coordinator that was restored has found all workers of the epoch: nothing is rolled back.
struct Reattached {
  std::uint64_t term = 0;
  Epoch epoch = 0;
};
struct FirstItemOut {
  Epoch epoch = 0;
};
struct SnapshotTaken {
  SnapshotId snapshot = 0;
  std::uint64_t bytes = 0;
  Time took{};
  /// Of `bytes`, items that its barriers have overtaken.
  std::uint64_t under_way = 0;
};
struct SnapshotAborted {
  SnapshotId snapshot = 0;
  std::string why;
};
struct ItemSkipped {
  std::uint32_t node = 0;
  std::uint64_t item = 0;
};
/// A replica that is neither a source nor waits for room has been inside its operator for long.
struct ReplicaBusy {
  ReplicaId replica = 0;
  std::string name;
  /// None: it finishes or commits.
  std::optional<std::uint64_t> item;
  Time since{};
};
/// The plan is to change: `text_of_change`. Items flow as before, until all processes are there
/// that the next plan wants.
struct ScaleStarted {
  std::string change;
};
/// All have stopped at one barrier, and begin by the next plan (Recovering follows, of nothing that
/// is done again).
struct ScaleSwitched {
  SnapshotId snapshot = 0;
};
/// All run by the next plan; or the job stays as it is, and why.
struct ScaleEnded {
  std::string change;
  bool done = false;
  std::string why;
  /// Since it was asked for, and since sources were told to stop.
  Time took{}, paused{};
};
/// Processes have gone to other places, and all run again. Sources had stopped for `paused`;
/// nothing is done again.
struct ProcessesMoved {
  std::vector<Slot> slots;
  SnapshotId snapshot = 0;
  Time paused{};
};
/// A snapshot is to be taken for this name.
struct SavepointBegun {
  std::string name;
};
/// The snapshot that has the name; none: nobody has it of us, and why.
struct SavepointEnded {
  std::string name;
  std::optional<SnapshotId> snapshot;
  std::string why;
  /// Since it was asked for.
  Time took{};
};
/// Packets of this process to all replicas of a node go by other hosts than before: "10.0.0.1 to
/// 10.0.0.2 10.0.0.3; 10.0.0.3 to 10.0.0.4". Nothing waits for it, and nothing is done again.
struct BroadcastRouted {
  Slot from = 0;
  std::string node;
  std::string tree;
};
/// "work/1 has been busy with item 17 for 10.0 s".
std::string text_of(const ReplicaBusy&);
using Note =
    std::variant<Lost, ReplicaFailed, Recovering, Running, FirstItemOut, SnapshotTaken,
                 SnapshotAborted, ItemSkipped, ReplicaBusy, Reattached, ScaleStarted, ScaleSwitched,
                 ScaleEnded, ProcessesMoved, SavepointBegun, SavepointEnded, BroadcastRouted>;
struct Tell {
  Note note;
};

using Action = std::variant<Spawn, Kill, Send, CommitSnapshot, DropSnapshot, FindSnapshot, Finish,
                            Tell, Decide, AnswerRequest, NameSnapshot>;

}  // namespace piracema::cluster
