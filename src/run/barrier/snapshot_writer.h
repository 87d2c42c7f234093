#pragma once

#include <functional>

#include "base/ids.h"
#include "base/work_queue.h"
#include "run/barrier/part_writer.h"
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
    store::PartContent part;
    /// As in Saved.
    std::uint64_t emitted = 0;
  };
  struct Piece {
    PartWriter::Of of;
    Buffer bytes;
    /// Called on the writer's thread when its memory is free again, be it stored or not.
    std::function<void()> done;
  };
  /// Called on the writer's thread once the state is durable, or could not be stored.
  using OnDone = std::function<void(const Job&, Result<store::Part>)>;

  /// At its end it finishes the one at hand and drops the rest.
  SnapshotWriter(store::SnapshotStore& store, OnDone on_done);

  /// Any thread. The queue is short: a replica saves once a snapshot, and one is on the way.
  void write(Job job);
  /// The same for a piece of what a Job will end. Who hands pieces over bounds what is under way.
  void write(Piece piece);

 private:
  PartWriter parts_;
  const OnDone on_done_;
  /// The last member: its thread uses the others.
  WorkQueue queue_{WorkQueue::AtEnd::drop};
};

}  // namespace piracema::runtime
