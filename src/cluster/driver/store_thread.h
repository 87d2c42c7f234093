#pragma once

#include <piracema/error.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/ids.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::cluster {

/// Does what a coordinator wants of the snapshot store, one after the other on a thread of its
/// own: a disk may take seconds, and a loop that waits for it would miss heartbeats.
class StoreThread {
 public:
  /// Called on the thread.
  using OnCommitted = std::function<void(SnapshotId, Result<Done>)>;

  StoreThread(store::SnapshotStore& store, OnCommitted on_committed);
  /// Finishes what was asked for.
  ~StoreThread();

  /// Makes it complete; the time of creation is now.
  void commit(store::Manifest manifest);
  /// What cannot be removed stays, with a warning.
  void drop(SnapshotId snapshot);

 private:
  void add(std::function<void()> task);
  void work();

  store::SnapshotStore& store_;
  OnCommitted on_committed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace piracema::cluster
