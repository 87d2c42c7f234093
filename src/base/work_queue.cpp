#include "base/work_queue.h"

#include <utility>

namespace piracema {

WorkQueue::WorkQueue(AtEnd at_end) : at_end_(at_end), thread_([this] { run(); }) {}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void WorkQueue::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void WorkQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    if (over_ && (waiting_.empty() || at_end_ == AtEnd::drop)) return;
    auto work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    // What it holds goes before the next begins, and not under the lock.
    work = nullptr;
    lock.lock();
  }
}

}  // namespace piracema
