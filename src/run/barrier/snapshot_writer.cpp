#include "run/barrier/snapshot_writer.h"

#include <utility>

namespace piracema::runtime {

SnapshotWriter::SnapshotWriter(store::SnapshotStore& store, OnDone on_done)
    : store_(store), on_done_(std::move(on_done)), thread_([this] { loop(); }) {}

SnapshotWriter::~SnapshotWriter() {
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SnapshotWriter::write(Job job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void SnapshotWriter::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return quit_ || !jobs_.empty(); });
    if (quit_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    on_done_(job, store_.put(job.snapshot, job.replica, job.state));
    lock.lock();
  }
}

}  // namespace piracema::runtime
