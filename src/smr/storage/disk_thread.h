#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace piracema::smr {

/// Does work on the disk that nobody's vote waits for, one after the other: a checkpoint may take
/// seconds, and the log must not.
class DiskThread {
 public:
  DiskThread();
  /// What was not begun is dropped.
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  /// Any thread.
  void post(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace piracema::smr
