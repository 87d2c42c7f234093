#include "os/patience.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/log.h"

namespace piracema::cluster {

Patience::Patience(std::chrono::milliseconds time, int code, std::string complaint)
    : thread_([this, time, code, complaint = std::move(complaint)] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, time, [this] { return over_; })) return;
        if (!complaint.empty()) log(Level::warning, complaint);
        // Not all streams, and not with their locks: somebody who reads from one keeps its lock.
        ::fflush_unlocked(stdout);
        ::_exit(code);
      }) {}

Patience::~Patience() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace piracema::cluster
