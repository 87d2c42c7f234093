#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "run/threads/actor.h"
#include "run/threads/run_queue.h"
#include "run/threads/seat.h"

namespace piracema::runtime {

/// A given number of threads for any number of actors (docs/design/014-threads.md).
///
/// So many turns are taken at a time. One that waits (`wait`), or that does not use its core while
/// others want theirs, gives its permit to another thread, which is made where there is none; so no
/// actor ever waits for a thread that waits for it.
class ThreadPool final : public Threads {
 public:
  /// `permits` is at least 1. Each thread keeps to one of `cores`, in turns; none: to no one.
  explicit ThreadPool(std::size_t permits, std::vector<std::uint32_t> cores = {});
  /// All actors have been joined.
  ~ThreadPool() override;

  void start(Actor& actor) override;
  void join(Actor& actor) override;
  void wait(Actor& actor, std::optional<Time> longest) override;

  /// Threads that it has made: the permits, one that looks on, and those it took for turns that
  /// waited. Any thread.
  std::size_t thread_count() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Timer {
    Time due;
    Actor* actor;
  };

  // ---- one thread of it
  void live(Seat& seat);
  void take_turns(Seat& seat, Actor& actor);
  void rest(Lock& lock);
  void look_on(Lock& lock);

  // ---- with the lock
  void set_timer(Actor& actor, Time due);
  void fire_timers();
  void take_from_stuck();
  void offer(bool will_rest = false);
  void wake_one();
  void add_thread();

  const std::vector<std::uint32_t> cores_;

  mutable std::mutex mutex_;
  RunQueue<Actor*> queue_;
  std::vector<Timer> timers_;
  std::set<Actor*> ended_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::thread> threads_;
  /// Threads that were made and are not there yet, and those that rest.
  std::size_t arriving_ = 0, resting_ = 0;
  /// One of those that rest looks at timers, and at those who hold permits that others wait for.
  bool somebody_looks_on_ = false;
  std::optional<Time> look_at_, looks_until_;
  bool over_ = false;
  std::condition_variable may_run_, may_look_, may_come_back_, has_ended_;
  /// As `queue_.others_wait()`, for threads that take turns.
  std::atomic<bool> others_wait_{false};
};

}  // namespace piracema::runtime
