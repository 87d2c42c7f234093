#include "run/barrier/overtaking.h"

#include <algorithm>
#include <utility>

namespace piracema::runtime {

void Overtaking::expect(SnapshotId snapshot, Time deadline) {
  const auto [expected, added] = expected_.emplace(snapshot, deadline);
  if (!added) expected->second = std::min(expected->second, deadline);
}

Time Overtaking::deadline_of(SnapshotId snapshot) const {
  if (open_ && open_->part.snapshot == snapshot) return open_->deadline;
  const auto expected = expected_.find(snapshot);
  return expected == expected_.end() ? Barrier::forever : expected->second;
}

std::optional<SnapshotId> Overtaking::due(Time now) const {
  const bool some = std::any_of(expected_.begin(), expected_.end(),
                                [now](const auto& expected) { return expected.second <= now; });
  if (!some) return std::nullopt;
  return expected_.begin()->first;
}

void Overtaking::taken(SnapshotId snapshot) {
  expected_.erase(expected_.begin(), expected_.upper_bound(snapshot));
}

void Overtaking::cut(SnapshotId snapshot, Buffer state) {
  open_ = Open{deadline_of(snapshot), {snapshot, std::move(state), {}, {}}};
  taken(snapshot);
  missing_.assign(missing_.size(), false);
}

void Overtaking::received(std::size_t input, ReplicaId from, const Packet& packet) {
  if (!open_ || !missing_[input]) return;
  if (const auto* batch = std::get_if<Batch>(&packet)) {
    open_->part.received.add(from, *batch);
  } else if (const auto* barrier = std::get_if<Barrier>(&packet)) {
    // One of a snapshot before it may come first, as that was given up.
    if (barrier->snapshot >= open_->part.snapshot) missing_[input] = false;
  } else if (std::holds_alternative<EndOfStream>(packet)) {
    missing_[input] = false;
  }
}

std::optional<SnapshotId> Overtaking::open() const {
  if (!open_) return std::nullopt;
  return open_->part.snapshot;
}

std::optional<Overtaking::Part> Overtaking::take() {
  if (!open_ || std::find(missing_.begin(), missing_.end(), true) != missing_.end()) {
    return std::nullopt;
  }
  std::optional<Part> part = std::move(open_->part);
  open_.reset();
  return part;
}

std::optional<Time> Overtaking::next_deadline() const {
  Time next = Barrier::forever;
  for (const auto& [snapshot, deadline] : expected_) next = std::min(next, deadline);
  if (next == Barrier::forever) return std::nullopt;
  return next;
}

}  // namespace piracema::runtime
