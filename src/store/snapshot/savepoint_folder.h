#pragma once

#include <piracema/error.h>

#include <string>
#include <utility>

#include "store/snapshot/savepoint.h"
#include "store/snapshot/snapshot_paths.h"

namespace piracema::store {

/// The savepoints of a directory of snapshots, a file for each name. Errors are those of a
/// SnapshotStore.
class SavepointFolder {
 public:
  explicit SavepointFolder(SnapshotPaths paths) : paths_(std::move(paths)) {}

  /// Durable when it returns. Errc::refused if the name is there.
  Result<Done> add(const std::string& name, SnapshotId snapshot) const;
  Result<Savepoints> all() const;
  /// Errc::not_found.
  Result<Done> remove(const std::string& name) const;

 private:
  SnapshotPaths paths_;
};

}  // namespace piracema::store
