#pragma once

#include <functional>

#include "base/work_queue.h"
#include "control/coordinator_actions.h"
#include "control/coordinator_events.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::cluster {

/// Does what a coordinator wants of the snapshot store, one after the other on threads of its
/// own: a disk may take seconds, and a loop that waits for it would miss heartbeats. What is
/// answered is told as the coordinator's event.
class StoreThread {
 public:
  /// At its end it finishes what was asked for. `tell` is called on a thread of it.
  StoreThread(store::SnapshotStore& store, std::function<void(Event)> tell);

  /// The time of creation is now.
  void act(CommitSnapshot commit);
  void act(const FindSnapshot& wanted);
  void act(const NameSnapshot& wanted);
  /// What cannot be removed stays, with a warning.
  void act(const DropSnapshot& drop);

 private:
  store::SnapshotStore& store_;
  const std::function<void(Event)> tell_;
  /// The last members: their threads use the others. A recovery that looks for its snapshot does
  /// not wait for those that are being dropped.
  WorkQueue queue_{WorkQueue::AtEnd::finish};
  WorkQueue finding_{WorkQueue::AtEnd::drop};
};

}  // namespace piracema::cluster
