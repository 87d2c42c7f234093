#pragma once

#include <piracema/graph.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/messages/control.h"
#include "flow/plan.h"
#include "net/transport/transport.h"
#include "run/barrier/snapshot_writer.h"
#include "run/replica/dead_letters.h"
#include "run/replica/replica_actor.h"
#include "run/threads/lead.h"
#include "run/worker/ahead_reader.h"
#include "run/worker/epoch_start.h"
#include "run/worker/layouts.h"
#include "run/worker/packet_router.h"

namespace piracema::runtime {

struct WorkerSettings {
  Slot slot = 0;
  /// Null: no snapshots.
  store::SnapshotStore* store = nullptr;
  /// A place for each replica of the plan where others can see what it is at work on; or null.
  std::function<std::atomic<std::uint64_t>&(ReplicaId)> at_work;
  /// How many batches may be on their way over a channel from the replicas of a process, this one
  /// included; as CreditPace has it where nothing is said.
  std::map<Slot, std::uint32_t> on_the_way;
  /// Items in a batch to the replicas of a process; as the edge has it where nothing is said.
  std::map<Slot, std::uint32_t> batches;
  /// File for items that are passed by; empty: none.
  std::string dead_letters;
  /// Threads for all replicas of the process; 0: one each.
  std::uint32_t threads = 0;
  /// Cores that the process keeps to; none: all.
  std::vector<std::uint32_t> cores;
  /// As in ReplicaInit; 0: as there.
  std::size_t back_bytes_max = 0;
  /// Where states by key are to lie; null: in memory.
  StatePlace* place = nullptr;
  /// What the only replica of a process may run while it has nothing to do, or null.
  Lead* lead = nullptr;
};

/// All replicas of one process: does what the coordinator says, and tells it what they do.
class Worker final : public ReplicaOwner {
 public:
  /// `say` may be called from any thread and must not block. `graph` outlives the worker.
  Worker(const Graph& graph, WorkerSettings settings, std::function<void(FromWorker)> say);
  /// Waits for the operators to return.
  ~Worker() override;

  /// The way to the other processes; null when there are none. Set before the first message.
  void set_transport(net::Transport* transport) { router_.set_transport(transport); }

  /// Does what the coordinator says. One thread, the owner's.
  void handle(const ToWorker& message);
  /// What all local replicas have done. That thread, and those of the replicas.
  Heartbeat heartbeat() const;
  /// How far they are with going back; nothing once they are ready, or before there are any. The
  /// owner's thread.
  std::optional<Restoring> restoring();
  /// What is to be told of the links to other processes; nothing while that is not due. The
  /// transport's thread, which is the owner's then.
  std::optional<LinksSeen> links() { return router_.links(); }

  // ---- any thread: what the transport tells
  void on_connected(Slot peer, std::uint32_t incarnation);
  void on_frame(Slot from, wire::Frame frame) { router_.on_frame(from, std::move(frame)); }

 private:
  void read_ahead(const ReadAhead& message);
  void deploy(const Deploy& message);
  const Layout& make_layout(const Deploy& message);
  ReplicaActor* actor_of(const flow::ReplicaPlan& replica);
  void make_threads(std::size_t replicas);
  ReplicaActor::ReadState init_of(const Layout& layout, const Deploy& message, ReplicaId replica);
  Context context_of(const Layout& layout, ReplicaId replica, const Deploy& message) const;
  void start_if_connected();

  void route(Epoch epoch, ReplicaId from, ReplicaId to, Packet packet) override {
    router_.route(epoch, from, to, std::move(packet));
  }
  void route(Epoch epoch, ReplicaId from, std::vector<Addressed> packets) override {
    router_.route(epoch, from, std::move(packets));
  }
  void route_to_all(Epoch epoch, ReplicaId from, const ToAll& to, Packet packet) override {
    router_.route_to_all(epoch, from, to, std::move(packet));
  }
  void begun(Epoch epoch, ReplicaId) override { start_.begun(epoch); }
  void save(Epoch epoch, ReplicaId replica, SnapshotId snapshot, std::uint64_t items_out,
            store::PartContent part) override;
  void save_piece(Epoch epoch, ReplicaId replica, SnapshotId snapshot, Buffer piece,
                  std::function<void()> done) override;
  void ended(Epoch epoch, ReplicaId replica) override;
  void committed(Epoch epoch, ReplicaId replica, SnapshotId snapshot) override {
    say_(Committed{epoch, snapshot, replica});
  }
  void first_output(Epoch epoch, ReplicaId replica) override { say_(FirstOutput{epoch, replica}); }
  void failed(Epoch epoch, ReplicaId replica, std::optional<std::uint64_t> item,
              std::string why) override {
    say_(OperatorFailed{epoch, replica, item, std::move(why)});
  }
  void skipped(Epoch epoch, ReplicaId replica, std::uint64_t item, Bytes bytes) override;

  const Graph& graph_;
  const WorkerSettings settings_;
  const std::function<void(FromWorker)> say_;
  Layouts layouts_;
  /// Its epoch is never newer than the newest layout.
  EpochStart start_;
  PacketRouter router_;
  std::unique_ptr<SnapshotWriter> writer_;
  DeadLetters dead_letters_;
  AheadReader ahead_;

  std::unique_ptr<Threads> threads_;
  /// All replicas that ever ran here, by node and index; one that does not rests. The owner's
  /// thread.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<ReplicaActor>> actors_;
};

}  // namespace piracema::runtime
