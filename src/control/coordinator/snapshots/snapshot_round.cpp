#include "control/coordinator/snapshots/snapshot_round.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::cluster {

void SnapshotRound::saved(const runtime::Saved& part) {
  ENSURE(part.replica < parts_.size());
  if (has(part.replica)) return;
  auto files = part.files;
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  parts_[part.replica] = {part.replica, part.bytes, part.checksum, part.indexed, std::move(files)};
  count_ += 1;
  emitted_ += part.emitted;
  under_way_ += part.under_way;
}

SavedSnapshot SnapshotRound::result() const {
  ENSURE(complete());
  SavedSnapshot snapshot{
      .id = id_, .epoch = epoch_, .purpose = purpose_, .emitted = emitted_, .parts = {}};
  for (const auto& part : parts_) snapshot.parts.push_back(*part);
  return snapshot;
}

}  // namespace piracema::cluster
