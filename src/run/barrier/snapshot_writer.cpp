#include "run/barrier/snapshot_writer.h"

#include <utility>

namespace piracema::runtime {

SnapshotWriter::SnapshotWriter(store::SnapshotStore& store, OnDone on_done)
    : store_(store), on_done_(std::move(on_done)) {}

void SnapshotWriter::write(Job job) {
  queue_.post([this, job = std::move(job)] {
    on_done_(job, store_.put_content(job.snapshot, job.replica, job.part));
  });
}

}  // namespace piracema::runtime
