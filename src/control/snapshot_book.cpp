#include "control/snapshot_book.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"

namespace piracema::cluster {

namespace {

Error wrong(SnapshotId id, const char* what) {
  return {Errc::corrupt, concat("snapshot ", id, " ", what)};
}

bool ascends(const std::vector<SnapshotId>& ids) {
  return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
}

}  // namespace

std::uint64_t SavedSnapshot::bytes() const {
  std::uint64_t bytes = 0;
  for (const SavedPart& part : parts) bytes += part.bytes;
  return bytes;
}

SnapshotBook::SnapshotBook(std::optional<SnapshotId> restore, std::vector<SnapshotId> found)
    : newest_(restore) {
  if (restore) found.push_back(*restore);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const SnapshotId id : found) (id <= restore.value_or(0) ? kept_ : given_up_).push_back(id);
  if (!found.empty()) next_id_ = found.back() + 1;
}

// The newest snapshot is what a recovery goes back to; none that is older is needed any more,
// but one that turns out to be damaged is replaced by the one before.
bool SnapshotBook::knows(SnapshotId id) const {
  return (writing_ && writing_->id == id) ||
         std::find(kept_.begin(), kept_.end(), id) != kept_.end();
}

std::vector<SnapshotId> SnapshotBook::dropped_with(SnapshotId id, std::uint32_t keep) const {
  std::vector<SnapshotId> all = kept_;
  all.push_back(id);
  all.resize(all.size() - std::min<std::size_t>(all.size(), keep));
  // Once more, as parts of these may have come since they were given up.
  all.insert(all.end(), given_up_.begin(), given_up_.end());
  return all;
}

Result<Done> SnapshotBook::begun(SnapshotId id) {
  if (open_ || writing_) return wrong(id, "is begun while another one is under way");
  if (id != next_id_ || id == ~SnapshotId{0}) return wrong(id, "is begun out of turn");
  next_id_ = id + 1;
  open_ = id;
  return Done{};
}

Result<Done> SnapshotBook::saved(SavedSnapshot snapshot) {
  if (open_ != snapshot.id) return wrong(snapshot.id, "is saved and was not begun");
  open_.reset();
  writing_ = std::move(snapshot);
  return Done{};
}

Result<Done> SnapshotBook::completed(SnapshotId id, std::uint32_t keep) {
  if (!writing_ || writing_->id != id) return wrong(id, "is complete and was not saved");
  writing_.reset();
  newest_ = id;
  kept_.push_back(id);
  if (kept_.size() > keep) kept_.erase(kept_.begin(), kept_.end() - keep);
  given_up_.clear();
  return Done{};
}

Result<Done> SnapshotBook::gave_up(SnapshotId id) {
  if (open_ == id) {
    open_.reset();
  } else if (writing_ && writing_->id == id) {
    writing_.reset();
  } else {
    return wrong(id, "is given up and was not begun");
  }
  given_up_.push_back(id);
  return Done{};
}

Result<Done> SnapshotBook::check(std::size_t replicas) const {
  std::vector<SnapshotId> under_way;
  if (open_) under_way.push_back(*open_);
  if (writing_) under_way.push_back(writing_->id);
  if (under_way.size() > 1) return wrong(under_way[0], "is one of two that are under way");
  if (!ascends(kept_) || !ascends(given_up_))
    return wrong(next_id_, "comes after a list in disorder");
  if (newest_ != (kept_.empty() ? std::nullopt : std::optional(kept_.back()))) {
    return wrong(newest_.value_or(0), "is the newest one and is not kept");
  }
  for (const auto& ids : {kept_, given_up_, under_way}) {
    if (!ids.empty() && ids.back() >= next_id_)
      return wrong(ids.back(), "has a number of the future");
  }
  for (const SnapshotId id : kept_) {
    const bool both = std::binary_search(given_up_.begin(), given_up_.end(), id);
    if (both) return wrong(id, "is kept and given up");
  }
  if (writing_ && writing_->parts.size() != replicas) {
    return wrong(writing_->id, "has another number of parts than the job has replicas");
  }
  for (std::size_t i = 0; writing_ && i < replicas; ++i) {
    const SavedPart& part = writing_->parts[i];
    if (part.replica != i) return wrong(writing_->id, "has parts in disorder");
    if (!part.indexed && !part.files.empty())
      return wrong(writing_->id, "has files without an index");
    for (std::size_t k = 0; k < part.files.size(); ++k) {
      if (part.files[k].snapshot >= writing_->id)
        return wrong(writing_->id, "has files of the future");
      if (k > 0 && part.files[k] <= part.files[k - 1]) {
        return wrong(writing_->id, "has files in disorder");
      }
    }
  }
  if (writing_ && writing_->purpose > SnapshotPurpose::savepoint) {
    return wrong(writing_->id, "has an unknown purpose");
  }
  return Done{};
}

}  // namespace piracema::cluster
