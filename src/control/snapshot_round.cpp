#include "control/snapshot_round.h"

#include <utility>

#include "base/ensure.h"

namespace piracema::cluster {

void SnapshotRound::saved(const runtime::Saved& part) {
  ENSURE(part.replica < parts_.size());
  if (has(part.replica)) return;
  parts_[part.replica] = {part.replica, part.bytes, part.checksum};
  count_ += 1;
  emitted_ += part.emitted;
}

store::Manifest SnapshotRound::manifest(std::string job,
                                        std::map<std::string, std::string> layouts) const {
  ENSURE(complete());
  store::Manifest manifest{.snapshot = id_,
                           .epoch = epoch_,
                           .job = std::move(job),
                           .layouts = std::move(layouts),
                           .finished = purpose_ == Purpose::final};
  for (const auto& part : parts_) manifest.parts.push_back(*part);
  return manifest;
}

std::uint64_t SnapshotRound::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& part : parts_) bytes += part ? part->bytes : 0;
  return bytes;
}

}  // namespace piracema::cluster
