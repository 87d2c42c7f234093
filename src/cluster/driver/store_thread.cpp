#include "cluster/driver/store_thread.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

StoreThread::StoreThread(store::SnapshotStore& store, OnCommitted on_committed)
    : store_(store), on_committed_(std::move(on_committed)), thread_([this] { work(); }) {}

StoreThread::~StoreThread() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StoreThread::commit(store::Manifest manifest) {
  add([this, manifest = std::move(manifest)]() mutable {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    manifest.created = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
    on_committed_(manifest.snapshot, store_.commit(manifest));
  });
}

void StoreThread::drop(SnapshotId snapshot) {
  add([this, snapshot] {
    if (auto dropped = store_.drop(snapshot); !dropped) {
      log(Level::warning, concat("snapshot ", snapshot, " stays: ", dropped.error().message));
    }
  });
}

void StoreThread::add(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void StoreThread::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace piracema::cluster
