#pragma once

#include <piracema/graph.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flow/plan.h"
#include "run/packet/port.h"
#include "run/sending/batch_order.h"
#include "run/sending/lanes.h"
#include "run/sending/output_queue.h"
#include "run/sending/send_options.h"
#include "run/sending/source_budget.h"

namespace piracema::runtime {

/// The sending side of a replica: closes the lanes that items collect in, gives the batches their
/// place in an order, and puts them into the queues of the outputs, where they wait for credits.
/// Barriers and the end of the stream keep their place between the batches of each output.
class Outbox final : public Lanes {
 public:
  /// `port` outlives it. `at_work` may be null.
  Outbox(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph,
         const SendOptions& options, Port& port, std::atomic<std::uint64_t>* at_work);

  // ---- the operator's calls lie between these
  /// What is emitted until `end_batch` comes from `batch`.
  void begin_batch(const Batch& batch);
  /// In an order, exactly what came from the batch leaves under its number, be it nothing.
  void end_batch();
  /// What is emitted from now on comes from no batch, and has no place in an order.
  void begin_finish();
  /// A source may begin `items` items, and go on until `until`, before it returns.
  void begin_produce(std::int64_t items, Time until) { budget_ = source_.begin(items, until); }
  /// How many of them are left, if no lane was full.
  std::int64_t left_to_produce() const { return budget_ + source_.later(); }

  /// Closes the lanes that hold something, full or not.
  void flush();
  /// The same for those that can leave at once: what cannot goes on collecting. With a time, only
  /// on outputs where that was not asked for as long as items may wait.
  void flush_if_asked(std::optional<Time> now = std::nullopt);
  /// The same for those whose receiver has nothing to do: what others may get goes on collecting.
  void flush_to_idle();
  /// It waits behind what was emitted, until `deadline` if the owner sees to that (`overtake`).
  void barrier(SnapshotId snapshot, SnapshotId complete = 0, Time deadline = Barrier::forever);
  /// It waits behind what was emitted.
  void watermark(const Watermark& mark);
  /// Nothing follows on any output, or on those that lead into the cycle of the replica.
  void end();
  void end_cycle();
  /// Round the cycle.
  void probe(const Probe& probe);
  /// Something that was emitted into the cycle of the replica is not done yet by who got it.
  bool is_busy_in_cycle() const;
  /// Something was emitted by an output that had ended.
  bool emitted_after_end() const { return emitted_after_end_; }

  /// A barrier of it, or of one before it, has not left.
  bool holds_barrier(SnapshotId snapshot) const;
  /// These barriers leave now: `passed(lane, batch)` is called for what that of `snapshot` passes,
  /// for each output in its order.
  template <class Passed>
  void overtake(SnapshotId snapshot, const Passed& passed);
  /// A batch that a barrier passed in the snapshot that is gone on from. False if there is no such
  /// lane.
  bool restore(std::size_t lane, Batch batch);
  /// A barrier that came waits for the operator to return: from `deadline` on it does not wait for
  /// room if that takes no more than some MiB. None: no barrier waits.
  void hurry(std::optional<Time> deadline) { hurry_ = deadline; }

  void on_credit(ReplicaId from, const Credit& credit);
  void on_release(ReplicaId from, std::uint64_t sequence) { order_.on_release(from, sequence); }

  /// Sends what may be sent.
  void pump() {
    for (OutputQueue& queue : queues_) queue.pump();
  }
  /// Nothing more should be emitted before a credit or a release comes.
  bool must_wait() const { return is_over(0); }
  /// Time spent waiting for room since it was asked last.
  Time take_waited() { return std::exchange(waited_, Time{}); }

 private:
  void lane_full(std::size_t lane) override;
  bool refill() override;
  bool skip(Bytes item) override;

  /// More is on its way or waiting than allowed, and by more than `slack` batches.
  bool is_over(std::uint64_t slack) const;
  void wait_for_room(std::uint64_t slack);
  /// Batches that have not left.
  std::uint64_t bytes_waiting() const;
  void close_lane(std::size_t lane, const Order& order);
  void close_output(std::uint32_t output);
  void close_ordered();

  const flow::ReplicaPlan plan_;
  Port& port_;
  const std::unordered_set<std::uint64_t> to_skip_;

  /// One for each output.
  std::vector<OutputQueue> queues_;
  /// Which receiver of which output a replica is.
  std::unordered_map<ReplicaId, Place> place_of_replica_;
  BatchOrder order_;
  SourceBudget source_;
  bool emitted_after_end_ = false;

  Time waited_{};
  std::optional<Time> hurry_;
};

template <class Passed>
void Outbox::overtake(SnapshotId snapshot, const Passed& passed) {
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    queues_[output].overtake(snapshot, [&](std::size_t receiver, const Batch& batch) {
      passed(ways_[output].first_lane + receiver, batch);
    });
  }
  pump();
}

}  // namespace piracema::runtime
