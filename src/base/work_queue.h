#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace piracema {

/// A thread that does what it is given, one piece after the other: work that waits for a disk,
/// which the thread that asks for it must not. Has no bound: who posts knows how much is under way.
class WorkQueue {
 public:
  /// What becomes of work that waits when the queue is destroyed. The piece at hand is finished.
  enum class AtEnd { finish, drop };

  explicit WorkQueue(AtEnd at_end);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Any thread, the queue's own included. `work` does not throw.
  void post(std::function<void()> work);

 private:
  void run();

  const AtEnd at_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool over_ = false;
  /// The last member: it uses all others.
  std::thread thread_;
};

}  // namespace piracema
