#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/operator.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "flow/plan.h"
#include "run/barrier/barriers.h"
#include "run/barrier/overtaking.h"
#include "run/barrier/reorder.h"
#include "run/packet/inbox.h"
#include "run/packet/port.h"
#include "run/replica/operator_guard.h"
#include "run/replica/part_saver.h"
#include "run/replica/snapshot_requests.h"
#include "run/sending/credit_book.h"
#include "run/sending/outbox.h"
#include "state/plain_part.h"

namespace piracema::runtime {

/// When a replica takes its state for a snapshot, when its barrier leaves, and what the snapshot
/// has of what was under way: asynchronous barrier snapshots (Carbone et al. 2015), whose barriers
/// overtake items when they have waited for too long.
class ReplicaSnapshots {
 public:
  /// What it takes part in; all of them outlive it.
  struct Of {
    const flow::ReplicaPlan& plan;
    const Graph& graph;
    Port& port;
    Counters& counters;
    OperatorGuard& guard;
    Inbox& inbox;
    Outbox& outbox;
    const Reorder& reorder;
    PartSaver& parts;
  };
  explicit ReplicaSnapshots(const Of& replica);

  /// The operator is there, and outlives it.
  void begin(Operator& of) { operator_ = &of; }
  /// The replica has gone on from this one.
  void restored(SnapshotId snapshot);
  /// What was under way in that: it comes first, and leaves first. Its senders have their credits
  /// for others.
  Result<Done> restore_overtaken(Bytes batches, CreditBook& credits);

  // ---- what the replica is told
  void trigger(SnapshotId snapshot, SnapshotId complete, bool hold, Time patience);
  void commit(SnapshotId snapshot) { requests_.commit(snapshot); }
  /// By an input that is no back edge, for a later turn.
  void received(std::size_t input, const Packet& packet);
  /// A source that is to send nothing until the next trigger.
  bool is_held() const { return is_source_ && requests_.is_held(); }

  // ---- what it comes to; `stage` is how far the replica has come
  /// What comes by `input` is to be held.
  bool is_blocked(std::size_t input) const { return barriers_.is_blocked(input); }
  void on_barrier(std::size_t input, const Barrier& barrier, state::Stage stage);
  void on_end(std::size_t input, state::Stage stage);
  /// By a back edge.
  void on_back_batch(std::size_t input, const Batch& batch) {
    barriers_.on_back_batch(input, plan_.inputs[input].from, batch);
  }

  // ---- between two batches: what an operator is in the middle of belongs to no state
  /// Does one thing that was asked for, if there is one.
  bool serve_requests(state::Stage stage);
  /// Barriers that have waited for too long go ahead. True if a state was taken.
  bool overtake(state::Stage stage);
  /// When the next one will have waited for too long.
  std::optional<Time> next_overtaking() const;

 private:
  /// `missing`: inputs by which its barrier has not come; none of them if it says nothing.
  void snapshot(SnapshotId snapshot, state::Stage stage,
                const std::vector<std::size_t>& missing = {});
  void save_complete();
  void save_open_part();
  void expect(SnapshotId snapshot, Time patience);
  const std::string& layout_of_batches();
  void heard_complete(SnapshotId snapshot) { complete_ = std::max(complete_, snapshot); }

  const flow::ReplicaPlan& plan_;
  const Graph& graph_;
  Port& port_;
  Counters& counters_;
  OperatorGuard& guard_;
  Inbox& inbox_;
  Outbox& outbox_;
  const Reorder& reorder_;
  PartSaver& parts_;
  Operator* operator_ = nullptr;
  const bool is_source_;

  SnapshotRequests requests_;
  Barriers barriers_;
  Overtaking overtaking_;
  /// A complete snapshot, the newest that it has heard of.
  SnapshotId complete_ = 0;
  std::optional<std::string> layout_of_batches_;
};

}  // namespace piracema::runtime
