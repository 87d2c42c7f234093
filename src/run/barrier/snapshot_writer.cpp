#include "run/barrier/snapshot_writer.h"

#include <utility>

namespace piracema::runtime {

SnapshotWriter::SnapshotWriter(store::SnapshotStore& store, OnDone on_done)
    : parts_(store), on_done_(std::move(on_done)) {}

void SnapshotWriter::write(Job job) {
  queue_.post([this, job = std::move(job)] {
    on_done_(job, parts_.put({job.epoch, job.snapshot, job.replica}, job.part));
  });
}

void SnapshotWriter::write(Piece piece) {
  queue_.post([this, piece = std::move(piece)]() mutable {
    parts_.add(piece.of, piece.bytes);
    piece.bytes = Buffer();
    piece.done();
  });
}

}  // namespace piracema::runtime
