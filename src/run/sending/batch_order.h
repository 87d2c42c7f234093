#pragma once

#include <piracema/batch.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/ids.h"
#include "flow/plan.h"

namespace piracema::runtime {

/// The places that the batches of a replica have in the order of their origin
/// (docs/design/001-order-of-batches.md). A replica that starts an order numbers what it sends, and
/// has no more than its window on the way; others give what they make of a batch the batch's own
/// number. Pure.
class BatchOrder {
 public:
  BatchOrder(ReplicaId self, const flow::ReplicaPlan& plan);

  /// Some batches carry an order, and have the place of the batch that they come from.
  bool is_inherited() const { return carries_ && !starts_; }

  // ---- for what is inherited: what is sent from now on
  /// Comes from a batch of this place.
  void begin_batch(const Order& of) { now_ = of; }
  /// Comes from no batch, and has no place.
  void begin_finish() { now_ = {.origin = self_, .sequence = Order::no_sequence}; }

  /// The place of part `i` of the batch that is done. The weights of all `parts` make up its
  /// weight.
  Order part(std::size_t i, std::size_t parts) const;
  /// All parts of it have their place.
  void batch_done() {
    if (starts_) now_.sequence += 1;
  }

  /// An end of the order has taken all before `sequence`.
  void on_release(ReplicaId end, std::uint64_t sequence);
  /// The window, and `slack` batches more, are on the way.
  bool is_window_full(std::uint64_t slack) const {
    return starts_ && now_.sequence - released_by_all_ >= window_ + slack;
  }

 private:
  const ReplicaId self_;
  const bool carries_, starts_;
  const std::uint32_t window_;
  /// Of the batch that is being made.
  Order now_;
  /// What each end of the order has taken.
  std::unordered_map<ReplicaId, std::uint64_t> released_;
  std::uint64_t released_by_all_ = 0;
};

}  // namespace piracema::runtime
