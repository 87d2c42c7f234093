// Batches that carry an order: docs/design/001-order-of-batches.md.
#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "run/sending/outbox.h"

namespace piracema::runtime {

void Outbox::begin_batch(const Batch& batch) {
  if (!orders_ || plan_.starts_order) return;
  emitted_ = 0;
  order_ = batch.order;
  inherits_positions_ = !batch.positions.empty();
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    const Exit& exit = exits_[output];
    const auto shared = std::count_if(exits_.begin(), exits_.end(),
                                      [&](const Exit& other) { return other.order == exit.order; });
    ways_[output].keeps_positions =
        exit.order && (exit.splits || shared > 1 || inherits_positions_);
  }
}

void Outbox::end_batch() {
  if (orders_ && !plan_.starts_order) close_ordered();
  pump();
}

void Outbox::begin_finish() {
  if (!orders_ || plan_.starts_order) return;
  order_ = {.origin = self_, .sequence = Order::no_sequence};
  inherits_positions_ = false;
}

// The batch that is done gets the next number of its order, or keeps the one it came with.
// Outputs that lead to different ends get it each.
void Outbox::close_ordered() {
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (!exits_[output].order) continue;
    const auto same = [&](const Exit& other) { return other.order == exits_[output].order; };
    const auto first = std::find_if(exits_.begin(), exits_.end(), same) - exits_.begin();
    if (first == static_cast<std::ptrdiff_t>(output)) close_order(output);
  }
  if (plan_.starts_order) order_.sequence += 1;
  emitted_ = 0;
}

// What took several lanes shares the batch's weight.
void Outbox::close_order(std::uint32_t first_output) {
  std::vector<std::size_t> filled;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const bool same = exits_[receivers_[lane].output].order == exits_[first_output].order;
    if (same && lanes_[lane].count != 0) filled.push_back(lane);
  }
  if (filled.empty()) filled.push_back(ways_[first_output].any_lane());
  if (filled.size() == 1) {
    const std::size_t lane = filled[0];
    const std::uint32_t output = receivers_[lane].output;
    const bool broadcast =
        lane == ways_[output].any_lane() && ways_[output].delivery == Delivery::broadcast;
    // Whole, and in its own order: places say nothing more.
    if (!inherits_positions_ && !broadcast) lanes_[lane].positions.clear();
  }
  ENSURE(order_.share >= filled.size());
  Order part = order_;
  part.share = order_.share / filled.size();
  for (std::size_t i = 0; i < filled.size(); ++i) {
    if (i + 1 == filled.size()) part.share = order_.share - part.share * i;
    close_lane(receivers_[filled[i]].output, filled[i], part);
  }
}

void Outbox::on_release(ReplicaId from, std::uint64_t sequence) {
  const auto end = released_.find(from);
  if (end == released_.end()) return;
  end->second = std::max(end->second, sequence);
  released_by_all_ = sequence;
  for (const auto& [replica, released] : released_) {
    released_by_all_ = std::min(released_by_all_, released);
  }
}

}  // namespace piracema::runtime
