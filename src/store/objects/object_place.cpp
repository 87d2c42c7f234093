#include "store/objects/object_place.h"

#include "base/text.h"
#include "store/snapshot/manifest_format.h"
#include "store/snapshot/part_format.h"
#include "store/snapshot/savepoint.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::store {

std::string ObjectPlace::lock() const { return key(lock_name); }

std::string ObjectPlace::folder(SnapshotId snapshot) const {
  return key(concat(snapshot_folder_name(snapshot), "/"));
}
std::string ObjectPlace::manifest(SnapshotId snapshot) const {
  return folder(snapshot) + manifest_file_name;
}
std::string ObjectPlace::part(const PartFile& part) const {
  return folder(part.snapshot) + part_file_name(part.replica);
}
std::string ObjectPlace::released(SnapshotId snapshot) const {
  return folder(snapshot) + released_file_name;
}
std::string ObjectPlace::savepoint(const std::string& of) const {
  return key(concat(savepoints_folder_name, "/", of));
}

}  // namespace piracema::store
