#pragma once

#include <piracema/graph.h>

#include <deque>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flow/plan.h"
#include "run/pace.h"
#include "run/port.h"

namespace piracema::runtime {

/// The sending side of a replica: lanes that items collect in, batches that wait for a credit,
/// and the choice of who gets them. Barriers and the end of the stream keep their place between
/// the batches.
class Outbox final : public Output {
 public:
  /// `edge` and `router` are those of `plan.edge`; null for a sink.
  Outbox(ReplicaId self, const flow::ReplicaPlan& plan, const EdgeShape* edge, Router router,
         std::unordered_set<std::uint64_t> skips, Port& port, std::atomic<std::uint64_t>* at_work);

  // ---- the operator's calls lie between these
  /// What is emitted until `end_batch` comes from `batch`.
  void begin_batch(const Batch& batch);
  /// In an order, exactly what came from the batch leaves under its number, be it nothing.
  void end_batch();
  /// What is emitted from now on comes from no batch, and has no place in an order.
  void begin_finish();
  /// A source may begin `items` items before it returns.
  void begin_produce(std::int64_t items) { budget_ = items; }

  /// Closes the lanes that hold something, full or not.
  void flush();
  /// The same for those that can leave at once: what cannot goes on collecting.
  void flush_if_asked();
  void barrier(SnapshotId snapshot);
  void end();

  void on_credit(ReplicaId from, const Credit& credit);
  void on_release(std::uint64_t sequence);

  /// Sends what may be sent.
  void pump();
  /// Nothing more should be emitted before a credit or a release comes.
  bool must_wait() const { return is_over(0); }
  /// Some lane holds items.
  bool has_open_lane() const;

  /// Time spent waiting for room since it was asked last.
  Time take_waited() { return std::exchange(waited_, Time{}); }

  std::uint64_t downstream_ns_per_item() const { return pace_.ns_per_item(); }
  std::uint64_t items_sent() const { return items_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  struct Waiting {
    std::size_t lane;
    Packet packet;
  };

  void lane_full(std::size_t lane) override;
  bool skip(Bytes item) override;

  /// More is on its way or waiting than allowed, and by more than `slack` batches.
  bool is_over(std::uint64_t slack) const;
  void close_lane(std::size_t lane, const Order& order);
  void close_ordered();
  bool send_front();
  bool send_batch(Waiting& waiting);
  bool send_to_all(Waiting& waiting);
  std::optional<std::size_t> least_busy() const;
  void send_to(std::size_t target, Batch batch);
  void set_limits();

  ReplicaId self_;
  const flow::ReplicaPlan plan_;
  Port& port_;
  std::unordered_set<std::uint64_t> to_skip_;

  std::deque<Waiting> waiting_;
  std::size_t waiting_batches_ = 0;
  std::vector<std::uint32_t> credits_;
  /// Batches that each receiver has got and not yet said to have done.
  std::vector<std::uint64_t> outstanding_;
  mutable std::size_t turn_ = 0;
  BatchPace pace_;

  Time waited_{};

  Order order_;
  std::uint64_t released_ = 0;
  bool splits_ = false;

  std::uint64_t items_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace piracema::runtime
