#pragma once

#include <piracema/graph.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "flow/plan.h"
#include "run/barrier/reorder.h"
#include "run/packet/inbox.h"
#include "run/packet/port.h"
#include "run/replica/counters.h"
#include "run/replica/event_clock.h"
#include "run/replica/operator_guard.h"
#include "run/replica/operator_timer.h"
#include "run/replica/part_saver.h"
#include "run/replica/replica_cycle.h"
#include "run/replica/replica_init.h"
#include "run/replica/replica_snapshots.h"
#include "run/sending/credit_book.h"
#include "run/sending/outbox.h"
#include "run/sending/source_pace.h"

namespace piracema::runtime {

/// One replica of a node: takes packets, runs the user's operator on them, sends packets.
///
/// No thread, clock or socket inside: its thread and the simulator call it alike. Made anew for
/// every epoch, so that nothing of an older one is left in it.
class Replica {
 public:
  /// `graph` and `port` outlive it. `at_work` may be null.
  Replica(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph, ReplicaInit init,
          Port& port, Counters& counters, std::atomic<std::uint64_t>* at_work);
  ~Replica();

  // ---- what it is told; none of these runs the operator
  void receive(ReplicaId from, Packet packet);
  /// A source takes a snapshot; one that has ended saves what it has. Any other waits for barriers,
  /// or for the ends of what sends to it, if they are all to come. With `hold` a source that has
  /// saved it sends nothing until the next trigger, which may be for the same one.
  /// Its barrier waits behind items for no longer than `patience` in all.
  void trigger(SnapshotId snapshot, SnapshotId complete = 0, bool hold = false,
               Time patience = Barrier::forever) {
    snapshots_.trigger(snapshot, complete, hold, patience);
  }
  /// May be told twice: the operator commits once.
  void commit(SnapshotId snapshot) { snapshots_.commit(snapshot); }

  enum class Next {
    again,  ///< There is more to do.
    wait,   ///< Nothing, until it is told something.
    poll,   ///< A source has nothing yet: ask again in a while.
  };
  /// Makes the operator and gives it its state. Once, before all else but `receive`.
  void begin();
  /// Asks for the first items. There is no common start: who has begun gets items from those who
  /// have begun. Once, after `begin`.
  void start();
  /// Does one piece of work: a batch, a barrier, a call of the source. Throws Interrupted.
  Next step();
  /// Its states by key, if they are as a snapshot has them, for the replica that follows it here;
  /// else null. Nothing is called after that.
  std::shared_ptr<state::KeptStates> keep() { return parts_.keep(); }
  /// How long it may wait at most: a timer of its operator is due then, or a barrier has waited for
  /// long enough.
  std::optional<Time> longest_wait() const;

 private:
  void receive_back(std::size_t input, Packet packet);
  Result<Done> restore(Bytes part);
  state::Stage stage() const;

  Next work();
  Next found_nothing();
  void handle(Inbox::Incoming incoming);
  void on_end(std::size_t input);
  void finish();

  // ---- items
  Next produce();
  void flush_produced();
  void count_produced(std::int64_t begun);
  void take(std::size_t input, Batch batch);
  std::uint64_t process(Batch& batch);
  void note_output();
  void release(ReplicaId origin, std::uint64_t sequence);
  void give_credit(std::size_t input, std::uint64_t took);
  std::uint64_t time_since(Time start);
  void count_out() { counters_.sent(outbox_.items_sent(), outbox_.bytes_sent()); }
  void count_queued() { counters_.queued.store(inbox_.size(), std::memory_order_relaxed); }

  const flow::ReplicaPlan plan_;
  const NodeShape& node_;
  const std::function<std::unique_ptr<Operator>()>& make_;
  ReplicaInit init_;
  Port& port_;
  Counters& counters_;
  OperatorGuard guard_;

  std::unique_ptr<Operator> operator_;
  Inbox inbox_;
  Outbox outbox_;
  CreditBook credits_;
  Reorder reorder_;
  PartSaver parts_;
  ReplicaSnapshots snapshots_;
  ReplicaCycle cycle_;
  OperatorTimer timer_;
  EventClock clock_;
  SourcePace source_;

  std::size_t open_inputs_;
  std::unordered_map<ReplicaId, std::uint64_t> released_;
  bool had_output_ = false;
  bool ended_ = false;
};

}  // namespace piracema::runtime
