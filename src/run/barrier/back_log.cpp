#include "run/barrier/back_log.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

void BackLog::cut(SnapshotId snapshot, Buffer state) {
  ENSURE(snapshot > last_cut_);
  last_cut_ = snapshot;
  Open open{.snapshot = snapshot, .state = std::move(state)};
  for (Input& input : inputs_) {
    // The barriers of a cycle come in order, so the one that waited is this one.
    open.arrived.push_back(input.ended || std::exchange(input.ahead, 0) != 0);
  }
  open_.push_back(std::move(open));
}

void BackLog::on_batch(std::size_t input, ReplicaId from, const Batch& batch) {
  if (batch.count == 0) return;
  for (Open& open : open_) {
    if (open.arrived[input]) continue;
    open.log.add(from, batch);
  }
}

void BackLog::on_barrier(std::size_t input, SnapshotId snapshot) {
  if (snapshot > last_cut_) {
    inputs_[input].ahead = snapshot;
    return;
  }
  for (Open& open : open_) {
    if (open.snapshot <= snapshot) open.arrived[input] = true;
  }
}

void BackLog::on_end(std::size_t input) {
  inputs_[input].ended = true;
  for (Open& open : open_) open.arrived[input] = true;
}

std::optional<BackLog::Part> BackLog::take() {
  if (open_.empty()) return std::nullopt;
  Open& first = open_.front();
  if (std::find(first.arrived.begin(), first.arrived.end(), false) != first.arrived.end()) {
    return std::nullopt;
  }
  Part part{first.snapshot, std::move(first.state)};
  first.log.write_to(part.bytes);
  open_.pop_front();
  return part;
}

}  // namespace piracema::runtime
