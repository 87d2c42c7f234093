#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow/plan.h"
#include "run/barrier/part_writer.h"
#include "run/packet/packet.h"
#include "run/replica/replica.h"
#include "run/worker/states_to_come.h"
#include "sim/cluster.h"

namespace piracema::sim {

/// What has happened in the workers of a program.
struct StreamCounts {
  /// Replicas that began with states by key which were kept.
  std::uint64_t kept = 0;
  /// Replicas that began with states by key which were read ahead.
  std::uint64_t ahead = 0;
  /// Parts of snapshots with batches that a barrier had overtaken, and replicas that began with
  /// some.
  std::uint64_t overtaken = 0, restored_overtaken = 0;
  /// Trees that were followed, packets that were passed on to another process, and those that were
  /// sent once more by another tree.
  std::uint64_t trees = 0, relayed = 0, sent_again = 0;
};

/// A packet that has come to a replica.
struct Parcel {
  Epoch epoch = 0;
  ReplicaId from = 0;
  runtime::Packet packet;
};

/// What a simulated replica asks of its process.
class ReplicaOwner {
 public:
  virtual ~ReplicaOwner() = default;
  virtual ProcessHost& host() = 0;
  virtual void route(Epoch epoch, ReplicaId from, ReplicaId to, runtime::Packet packet) = 0;
  virtual void route_to_all(Epoch epoch, ReplicaId from, const runtime::ToAll& to,
                            runtime::Packet packet) = 0;
  virtual void begun(Epoch epoch) = 0;
  virtual StreamCounts& counts() = 0;
  virtual StatePlace* place() = 0;
  virtual runtime::StatesToCome& to_come() = 0;
  /// Has `turn` called when there is a thread for it; then `turn_over` follows.
  virtual void want_turn(std::function<void()> turn) = 0;
  virtual void turn_over() = 0;
};

/// What `runtime::ReplicaActor` is to a real replica: its mailbox, and its steps one by one. Its
/// thread is events, and so is the one that writes its snapshots.
class SimReplica final : public runtime::Port {
 public:
  SimReplica(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph, ReplicaOwner& owner)
      : self_(self), plan_(plan), graph_(graph), owner_(owner) {}

  /// It is no replica of the plan that follows. What is still to happen may name it.
  void retire();
  /// A real one stays what it is until it begins anew, by whatever plan.
  std::shared_ptr<state::KeptStates> take_kept();
  void follow(SimReplica& former) { kept_ = former.take_kept(); }
  bool is_same_as(const flow::ReplicaPlan& other) const;

  /// Whatever the replica is at takes its time before it begins anew.
  void begin(const runtime::Deploy& deploy);

  void deliver(Parcel parcel);
  void trigger(Epoch epoch, SnapshotId snapshot, SnapshotId complete, bool hold, Time patience);
  void commit(Epoch epoch, SnapshotId snapshot);

  runtime::Progress progress() const;

 private:
  void do_begin(const runtime::Deploy& deploy);
  bool has_overtaken(Bytes plain) const;
  Result<runtime::ReplicaInit> read_state(const runtime::Deploy& deploy,
                                          std::shared_ptr<state::KeptStates> kept);

  // ---- its thread
  void wake();
  void step();
  /// Until it is woken, or a timer of its operator is due.
  void rest();

  // ---- what the replica does
  void send(ReplicaId to, runtime::Packet packet) override;
  void send_to_all(const runtime::ToAll& to, runtime::Packet packet) override;
  void save(SnapshotId snapshot, std::uint64_t, store::PartContent content) override;
  void save_piece(SnapshotId snapshot, Buffer piece) override;
  std::uint64_t unwritten() const override { return unwritten_; }
  void ended() override { say(runtime::Ended{epoch_, self_}); }
  void committed(SnapshotId snapshot) override { say(runtime::Committed{epoch_, snapshot, self_}); }
  void first_output() override { say(runtime::FirstOutput{epoch_, self_}); }
  void failed(std::optional<std::uint64_t> item, std::string why) override;
  void skipped(std::uint64_t, Bytes) override {}
  bool wait(std::optional<Time>) override { return false; }
  std::function<void()> waker() override;
  Time now() override;
  WallTime wall_time() override;

  // ---- what `runtime::SnapshotWriter` is to a real one: one after the other
  struct Write {
    Epoch epoch = 0;
    SnapshotId snapshot = 0;
    Buffer piece;
    /// Of the end of a part.
    std::optional<store::PartContent> rest;
  };
  void write(Write next);
  void write_later();
  void put(const runtime::PartWriter::Of& of, const store::PartContent& rest);

  void say(runtime::FromWorker message) { owner_.host().say(std::move(message)); }
  Random& random() { return owner_.host().scheduler().random(); }
  Time between(Time least, Time most) { return owner_.host().scheduler().between(least, most); }

  const ReplicaId self_;
  const flow::ReplicaPlan plan_;
  const Graph& graph_;
  ReplicaOwner& owner_;
  runtime::Counters counters_;
  std::unique_ptr<runtime::Replica> replica_;
  /// Of the replica that it follows, until it begins.
  std::shared_ptr<state::KeptStates> kept_;
  Epoch epoch_ = 0, wanted_ = 0;
  std::vector<Parcel> early_;
  bool awake_ = false;
  /// What its operator was given last takes until then.
  Time busy_until_{};
  Time spent_{};
  std::deque<Write> to_write_;
  std::optional<runtime::PartWriter> writer_;
  std::uint64_t unwritten_ = 0;
};

}  // namespace piracema::sim
