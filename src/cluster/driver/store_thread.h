#pragma once

#include <piracema/error.h>

#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/work_queue.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::cluster {

/// Does what a coordinator wants of the snapshot store, one after the other on threads of its
/// own: a disk may take seconds, and a loop that waits for it would miss heartbeats.
class StoreThread {
 public:
  /// Called on the thread.
  using OnCommitted = std::function<void(SnapshotId, Result<Done>)>;

  /// At its end it finishes what was asked for.
  StoreThread(store::SnapshotStore& store, OnCommitted on_committed);

  /// Makes it complete; the time of creation is now.
  void commit(store::Manifest manifest);
  /// Whether a recovery can go back to it; SnapshotStore::find says what is gone. Called on the
  /// thread.
  void find(std::optional<SnapshotId> snapshot, std::function<void(Result<Done>)> tell);
  /// SnapshotStore::add_savepoint; called on the thread.
  void name(SnapshotId snapshot, std::string name, std::function<void(Result<Done>)> tell);
  /// What cannot be removed stays, with a warning.
  void drop(SnapshotId snapshot);

 private:
  store::SnapshotStore& store_;
  OnCommitted on_committed_;
  /// The last members: their threads use the others. A recovery that looks for its snapshot does
  /// not wait for those that are being dropped.
  WorkQueue queue_{WorkQueue::AtEnd::finish};
  WorkQueue finding_{WorkQueue::AtEnd::drop};
};

}  // namespace piracema::cluster
