#include "control/snapshot_round.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::cluster {

void SnapshotRound::saved(const runtime::Saved& part) {
  ENSURE(part.replica < parts_.size());
  if (has(part.replica)) return;
  std::vector<store::PartFile> files;
  for (const runtime::StateFile& file : part.files) files.push_back({file.snapshot, file.replica});
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  parts_[part.replica] = {part.replica, part.bytes, part.checksum, part.indexed, std::move(files)};
  count_ += 1;
  emitted_ += part.emitted;
}

store::Manifest SnapshotRound::manifest(std::string job,
                                        std::map<std::string, std::string> layouts,
                                        std::vector<store::NodeParts> nodes) const {
  ENSURE(complete());
  store::Manifest manifest{.snapshot = id_,
                           .epoch = epoch_,
                           .job = std::move(job),
                           .layouts = std::move(layouts),
                           .nodes = std::move(nodes),
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
