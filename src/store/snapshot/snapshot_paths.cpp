#include "store/snapshot/snapshot_paths.h"

#include "base/text.h"
#include "store/snapshot/manifest_format.h"
#include "store/snapshot/part_format.h"

namespace piracema::store {

std::string SnapshotPaths::lock() const { return concat(directory_, "/", lock_name); }

std::string SnapshotPaths::folder(SnapshotId snapshot) const {
  return concat(directory_, "/", snapshot_folder_name(snapshot));
}

std::string SnapshotPaths::manifest(SnapshotId snapshot) const {
  return concat(folder(snapshot), "/", manifest_file_name);
}

std::string SnapshotPaths::released(SnapshotId snapshot) const {
  return concat(folder(snapshot), "/", released_file_name);
}

std::string SnapshotPaths::part(const PartFile& file) const {
  return concat(folder(file.snapshot), "/", part_file_name(file.replica));
}

std::string SnapshotPaths::savepoints() const {
  return concat(directory_, "/", savepoints_folder_name);
}

std::string SnapshotPaths::savepoint(const std::string& name) const {
  return concat(savepoints(), "/", name);
}

}  // namespace piracema::store
