#pragma once

#include <string>
#include <utility>

#include "store/snapshot/part_index.h"

namespace piracema::store {

/// What lies where in a directory of snapshots; docs/formats/snapshot.md.
///
///     DIR/piracema.lock                      what makes it a snapshot directory
///     DIR/000000000007/part-0003             one replica's state
///     DIR/000000000005/part-0003             what of it has not changed since snapshot 5
///     DIR/000000000007/manifest.json         makes snapshot 7 complete
///     DIR/000000000007/released              its job needs it no more
///     DIR/savepoints/before-tuesday          keeps a snapshot by that name
class SnapshotPaths {
 public:
  explicit SnapshotPaths(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  std::string lock() const;
  std::string folder(SnapshotId snapshot) const;
  std::string manifest(SnapshotId snapshot) const;
  std::string released(SnapshotId snapshot) const;
  std::string part(const PartFile& file) const;
  std::string savepoints() const;
  std::string savepoint(const std::string& name) const;

 private:
  std::string directory_;
};

}  // namespace piracema::store
