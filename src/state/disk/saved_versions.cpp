#include "state/disk/saved_versions.h"

#include <utility>

namespace piracema::state {

SavedVersions::Id SavedVersions::of_file(std::uint8_t file) {
  for (const auto& [id, version] : versions_) {
    if (version.file == file) return id;
  }
  const Id id = next_++;
  versions_[id].file = file;
  return id;
}

std::uint64_t SavedVersions::records_in(std::uint8_t file) const {
  std::uint64_t records = 0;
  for (const auto& [id, version] : versions_) {
    if (version.file == file) records += version.records;
  }
  return records;
}

void SavedVersions::forget(const std::array<bool, 256>& numbers) {
  for (auto& [id, version] : versions_) {
    if (saved_in::is_file(version.file) && numbers[version.file]) version.file = saved_in::none;
  }
}

SavedVersions::Id SavedVersions::cut(std::uint8_t file) {
  versions_[now_].file = file;
  const Id ended = std::exchange(now_, next_++);
  versions_[now_] = {};
  return ended;
}

std::vector<SavedVersions::Id> SavedVersions::in_files(const std::array<bool, 256>& is_in) const {
  std::vector<Id> found;
  for (const auto& [id, version] : versions_) {
    if (is_in[version.file]) found.push_back(id);
  }
  return found;
}

std::vector<SavedVersions::Id> SavedVersions::drop_empty() {
  std::vector<Id> dropped;
  std::erase_if(versions_, [&](const auto& one) {
    if (one.first == now_ || one.second.records != 0) return false;
    dropped.push_back(one.first);
    return true;
  });
  return dropped;
}

}  // namespace piracema::state
