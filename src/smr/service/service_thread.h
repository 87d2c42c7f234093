#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "smr/service/service.h"

namespace piracema::smr {

/// A service on a thread of its own (paper 003, Figure 2: the delivery thread), and a second thread
/// that writes checkpoints. What is asked of it is done in the order in which it was asked; the
/// core bounds how much is waiting.
class ServiceThread {
 public:
  using Executed = std::function<void(Instance, std::optional<std::uint64_t> timer)>;

  /// `executed` is told, on the service's thread, how far execution is, and Service::timer.
  /// `service` outlives this.
  ServiceThread(Service& service, Executed executed);
  /// Waits for what is being done; what has not begun is dropped.
  ~ServiceThread();
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;

  // ---- any thread; each returns at once

  /// Batches that have come meanwhile are executed together.
  void execute(Execute decided);
  /// Calls `what` on the service's thread: to query, to restore.
  void post(std::function<void(Service&)> what);
  /// The state after all that was asked before, if it is worth a checkpoint. Execution stops for
  /// Service::snapshot alone; `taken` is called on the thread that writes checkpoints, `skipped` on
  /// the service's.
  void take_checkpoint(const TakeCheckpoint& due, Pieces pieces,
                       std::function<void(Checkpoint)> taken, std::function<void()> skipped);

 private:
  using Letter = std::variant<Execute, std::function<void(Service&)>>;
  /// Work for one thread.
  template <class T>
  struct Queue {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<T> waiting;
    bool over = false;

    void put(T value) {
      {
        const std::lock_guard lock(mutex);
        waiting.push_back(std::move(value));
      }
      filled.notify_one();
    }
    void end() {
      {
        const std::lock_guard lock(mutex);
        over = true;
      }
      filled.notify_one();
    }
    /// Waits for the next; false when it is over. With the lock held again.
    bool wait(std::unique_lock<std::mutex>& lock) {
      filled.wait(lock, [this] { return over || !waiting.empty(); });
      return !over;
    }
  };

  void serve();
  void write_checkpoints();
  void gather_batches();

  Service& service_;
  const Executed executed_;
  Queue<Letter> letters_;
  Queue<std::function<void()>> checkpoints_;
  std::vector<Execute> batches_;
  std::thread serving_, writing_;
};

}  // namespace piracema::smr
