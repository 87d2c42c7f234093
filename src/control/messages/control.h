#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "flow/states.h"
#include "wire/frame.h"

/// What a coordinator and the processes of its job say to each other.
namespace piracema::runtime {

// ---- a worker to its coordinator -----------------------------------------------------------

/// The first message, after a handshake (net/session/handshake.h) that has shown that the worker is
/// of this job and version. A coordinator refuses another graph.
struct Hello {
  Slot slot = 0;
  /// How many processes had this slot before; tells a late one from its successor.
  std::uint32_t incarnation = 0;
  std::uint64_t pid = 0;
  /// Where the other workers reach it.
  std::string address;
  /// `encode_shape` of the program's graph.
  std::string graph;
  /// `costs_of` it.
  std::vector<std::uint64_t> costs;
  /// `flow::state_types_of` it; none where no snapshots are taken.
  flow::StateTypes states;
  /// `flow::unsaved_states` of it.
  std::vector<std::string> unsaved;
  /// Why the process cannot do its work, as a port that is taken; empty: it can. What it writes
  /// itself may be lost: an mpirun ends at once when a rank does.
  std::string hindrance = {};
  auto fields() {
    return std::tie(slot, incarnation, pid, address, graph, costs, states, unsaved, hindrance);
  }
};

/// All replicas of the process are restored and its peers connected.
struct Ready {
  Epoch epoch = 0;
  auto fields() { return std::tie(epoch); }
};

/// How far a process is with going back. Sent with each heartbeat until it is Ready: to load a
/// large state takes as long as it takes.
struct Restoring {
  Epoch epoch = 0;
  /// Replicas that are still at what their operators did before.
  std::uint32_t busy = 0;
  /// Bytes of state that were read and taken over, and steps on the way: it changes while the
  /// process gets on.
  std::uint64_t progress = 0;
  auto fields() { return std::tie(epoch, busy, progress); }
};

/// The file of another snapshot in which states by key lie that have not changed since.
struct StateFile {
  SnapshotId snapshot = 0;
  ReplicaId replica = 0;
  auto operator<=>(const StateFile&) const = default;
  auto fields() { return std::tie(snapshot, replica); }
};

/// A replica's state is in the store, durable.
struct Saved {
  Epoch epoch = 0;
  SnapshotId snapshot = 0;
  ReplicaId replica = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  /// Items that a source has sent since the last Deploy, up to the barrier.
  std::uint64_t emitted = 0;
  /// As in store::Part.
  bool indexed = false;
  std::vector<StateFile> files = {};
  /// Of `bytes`, items that the barrier has overtaken.
  std::uint64_t under_way = 0;
  auto fields() {
    return std::tie(epoch, snapshot, replica, bytes, checksum, emitted, indexed, files, under_way);
  }
};

/// A replica's state could not be stored (a full disk, say): the snapshot fails, not the job.
struct SaveFailed {
  Epoch epoch = 0;
  SnapshotId snapshot = 0;
  ReplicaId replica = 0;
  std::string why;
  auto fields() { return std::tie(epoch, snapshot, replica, why); }
};

/// A replica has seen the end of all its inputs and has sent everything it ever will.
struct Ended {
  Epoch epoch = 0;
  ReplicaId replica = 0;
  auto fields() { return std::tie(epoch, replica); }
};

/// A user's operator threw. The replica waits for the next Deploy.
struct OperatorFailed {
  Epoch epoch = 0;
  ReplicaId replica = 0;
  /// The item that it was at work on, if it was.
  std::optional<std::uint64_t> item;
  std::string why;
  auto fields() { return std::tie(epoch, replica, item, why); }
};

/// A sink has committed a snapshot's transaction.
struct Committed {
  Epoch epoch = 0;
  SnapshotId snapshot = 0;
  ReplicaId replica = 0;
  auto fields() { return std::tie(epoch, snapshot, replica); }
};

/// A sink got its first item since `Deploy`.
struct FirstOutput {
  Epoch epoch = 0;
  ReplicaId replica = 0;
  auto fields() { return std::tie(epoch, replica); }
};

/// What a replica has done since the last `Deploy`.
struct Progress {
  ReplicaId replica = 0;
  std::uint64_t items_in = 0, items_out = 0, bytes_in = 0, bytes_out = 0;
  /// Time inside the user's code, and time that it waited for room at its receivers.
  std::uint64_t busy_ns = 0, blocked_ns = 0;
  /// Packets that have come and wait for their turn.
  std::uint32_t queued = 0;
  /// How much of its input a source has read, in parts per million; above 1'000'000: unknown.
  std::uint32_t read_ppm = 0;
  /// Grows when the user's code is called, when it returns, and before and after it waits for room:
  /// odd while it is at work.
  std::uint32_t calls = 0;
  /// What it is at then, if that is an item.
  static constexpr std::uint64_t no_item = ~std::uint64_t{0};
  std::uint64_t item = no_item;
  /// How far event time has come behind what it has sent, since 1970; none: nobody has said.
  std::optional<Time> event_time;
  /// Items that were behind event time when they came, since the job began.
  std::uint64_t items_late = 0;
  auto fields() {
    return std::tie(replica, items_in, items_out, bytes_in, bytes_out, busy_ns, blocked_ns, queued,
                    read_ppm, calls, item, event_time, items_late);
  }
};

/// Sent every heartbeat interval; its absence is what tells a process that is stopped.
struct Heartbeat {
  Epoch epoch = 0;
  /// CPU time that the process has used.
  std::uint64_t cpu_ns = 0;
  std::vector<Progress> progress;
  auto fields() { return std::tie(epoch, cpu_ns, progress); }
};

/// The answer to Attach. What the process has said of its epoch follows once more, as its
/// coordinator may be another one.
struct Attached {
  /// That of the Attach.
  std::uint64_t term = 0;
  /// That of its last Deploy; 0: it had none.
  Epoch epoch = 0;
  auto fields() { return std::tie(term, epoch); }
};

/// What a process has seen of its link to another one.
struct LinkSeen {
  Slot to = 0;
  /// A round trip without waiting, in microseconds; 0: not known.
  std::uint32_t round_trip_us = 0;
  /// How fast bytes went; 0: too few went to tell.
  std::uint64_t bytes_per_second = 0;
  /// The link could have carried more: there was no more to send.
  bool at_least = false;
  auto fields() { return std::tie(to, round_trip_us, bytes_per_second, at_least); }
};

/// Links that have been used, or are others than when they were told last: sent every now and then
/// by processes that were told to watch them.
struct LinksSeen {
  Epoch epoch = 0;
  /// Of a packet that went to all replicas of a node, on average; 0: none did.
  std::uint64_t broadcast_bytes = 0;
  /// To all others together, since the last one.
  std::uint64_t bytes_per_second = 0;
  std::vector<LinkSeen> links;
  auto fields() { return std::tie(epoch, broadcast_bytes, bytes_per_second, links); }
};

/// The answer to ReadAhead: all of it is read, or it cannot be.
struct HasReadAhead {
  Epoch epoch = 0;
  SnapshotId snapshot = 0;
  auto fields() { return std::tie(epoch, snapshot); }
};

using FromWorker =
    std::variant<Hello, Ready, Saved, SaveFailed, Ended, OperatorFailed, Committed, FirstOutput,
                 Heartbeat, Restoring, Attached, LinksSeen, HasReadAhead>;

// ---- the coordinator to a worker -----------------------------------------------------------

struct Peer {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  std::string address;
  auto fields() { return std::tie(slot, incarnation, address); }
};

/// An item that a node passes by, because it has brought down its worker too often.
struct Skip {
  std::uint32_t node = 0;
  std::uint64_t item = 0;
  auto fields() { return std::tie(node, item); }
};

/// Start from, or roll back to, a snapshot (paper 000, section 4.1: every change of the
/// configuration goes on from the last valid global checkpoint). Answered by Ready.
struct Deploy {
  Epoch epoch = 0;
  /// None: from the beginning of the stream.
  std::optional<SnapshotId> restore;
  /// Slot of every replica of the plan.
  std::vector<Slot> placement;
  std::vector<Peer> peers;
  std::vector<Skip> skips;
  /// Slots whose process of an older epoch could not be ended for certain.
  std::vector<Slot> may_live;
  /// Of each node of the graph; none: as many as the program says.
  std::vector<std::uint32_t> replicas = {};
  /// All of these replicas have been started before, in this job.
  bool started_before = false;
  auto fields() {
    return std::tie(epoch, restore, placement, peers, skips, may_live, replicas, started_before);
  }
};

/// Sources put barriers into their streams; replicas that have ended save what they have.
struct Trigger {
  Epoch epoch = 0;
  SnapshotId snapshot = 0;
  std::vector<ReplicaId> replicas;
  /// The newest complete snapshot; 0: none. What was saved in it need not be saved again.
  SnapshotId complete = 0;
  /// Sources send nothing after it, until they are told of another snapshot or epoch.
  bool hold = false;
  /// Its barriers wait behind items for no longer than this in all; then they overtake them.
  Time patience = Time::max();
  auto fields() { return std::tie(epoch, snapshot, replicas, complete, hold, patience); }
};

/// The snapshot can no longer be lost: sinks commit. `replicas` answer with Committed.
struct Commit {
  Epoch epoch = 0;
  SnapshotId snapshot = 0;
  std::vector<ReplicaId> replicas;
  auto fields() { return std::tie(epoch, snapshot, replicas); }
};

/// End the process. `code` is its exit status; `why`, when not empty, is said first.
struct Shutdown {
  std::uint32_t code = 0;
  std::string why;
  auto fields() { return std::tie(code, why); }
};

/// Who coordinates the job: the first message to each process that joins or comes back. All that
/// follows on the connection is of this term, and a process refuses it once it has heard of a
/// higher one (TermFence). Answered by Attached.
struct Attach {
  std::uint64_t term = 0;
  Epoch epoch = 0;
  auto fields() { return std::tie(term, epoch); }
};

/// A coordinator that is one of several is there, and says so several times a second. A process
/// that hears nothing for so long looks whether another one coordinates the job.
struct StillHere {
  std::uint32_t others_after_ms = 0;
  /// Where all of them are by now.
  std::vector<std::string> coordinators = {};
  auto fields() { return std::tie(others_after_ms, coordinators); }
};

/// A process in a tree, and how many are below it: each before those that get it from there.
struct TreeBranch {
  Slot slot = 0;
  std::uint32_t below = 0;
  auto fields() { return std::tie(slot, below); }
  bool operator==(const TreeBranch&) const = default;
};

/// By which processes packets for all replicas of a node go. The first one is the sender's.
struct BroadcastTree {
  std::uint32_t node = 0;
  std::vector<TreeBranch> branches;
  auto fields() { return std::tie(node, branches); }
  bool operator==(const BroadcastTree&) const = default;
};

/// From here on packets for all replicas of these nodes leave the process by these trees, and it
/// tells of its links this often (LinksSeen). Nothing that is on the way is disturbed.
struct BroadcastTrees {
  Epoch epoch = 0;
  std::vector<BroadcastTree> trees;
  std::uint32_t watch_every_ms = 0;
  auto fields() { return std::tie(epoch, trees, watch_every_ms); }
};

/// Another plan is to follow: the process reads the states by key that it will have by it, and has
/// not got by this one, from a complete snapshot; of a newer one only what is new. Nothing else
/// changes. Answered by HasReadAhead, in any case.
struct ReadAhead {
  Epoch epoch = 0;
  /// 0: no plan is to follow any more, and what was read goes.
  SnapshotId snapshot = 0;
  /// As in Deploy.
  std::vector<Slot> placement;
  std::vector<std::uint32_t> replicas;
  auto fields() { return std::tie(epoch, snapshot, placement, replicas); }
};

using ToWorker =
    std::variant<Deploy, Trigger, Commit, Shutdown, Attach, StillHere, BroadcastTrees, ReadAhead>;

/// Messages as frames and back. Errc::corrupt for a frame that no peer of this version sends.
wire::Frame to_frame(const FromWorker&);
wire::Frame to_frame(const ToWorker&);
Result<FromWorker> from_worker(const wire::Frame&);
Result<ToWorker> to_worker(const wire::Frame&);

/// What a program says of how it may be cut, beside its shape.
struct Cut {
  std::vector<GroupShape> groups;
  /// NodeShape::cost_ns of all nodes.
  std::vector<std::uint64_t> costs;
};
std::vector<std::uint64_t> costs_of(const GraphShape&);
/// Costs of another number of nodes are Errc::corrupt.
Result<Done> set_costs(GraphShape&, const std::vector<std::uint64_t>& costs);
std::string encode_cut(const Cut&);
Result<Cut> decode_cut(const std::string&);

std::string encode_shape(const GraphShape&);
Result<GraphShape> decode_shape(const std::string&);
/// Of a version before there were key groups: what is by key gets `key_groups_default`.
Result<GraphShape> decode_old_shape(const std::string&);

}  // namespace piracema::runtime
