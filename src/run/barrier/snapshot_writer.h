#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/ids.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::runtime {

/// Puts states into a store on a thread of its own, so that no replica waits for a disk: the
/// asynchronous part of Asynchronous Barrier Snapshotting.
class SnapshotWriter {
 public:
  struct Job {
    Epoch epoch = 0;
    SnapshotId snapshot = 0;
    ReplicaId replica = 0;
    Buffer state;
    /// As in Saved.
    std::uint64_t emitted = 0;
  };
  /// Called on the writer's thread once the state is durable, or could not be stored.
  using OnDone = std::function<void(const Job&, Result<store::Part>)>;

  SnapshotWriter(store::SnapshotStore& store, OnDone on_done);
  /// Finishes the one at hand and drops the rest.
  ~SnapshotWriter();

  /// Any thread. The queue is short: a replica saves once a snapshot, and one is on the way.
  void write(Job job);

 private:
  void loop();

  store::SnapshotStore& store_;
  const OnDone on_done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace piracema::runtime
