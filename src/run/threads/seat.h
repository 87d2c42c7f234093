#pragma once

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace piracema::runtime {

/// One thread of a pool, and what others see of it. But for `turns` under the pool's lock.
class Seat {
 public:
  /// A turn that has lasted so long without using its core for half of the time is stuck: it waits
  /// for the world. One that has lasted much longer is taken for stuck, whatever it does.
  static constexpr Time stuck_after = std::chrono::milliseconds(10);
  static constexpr Time long_after = std::chrono::milliseconds(500);

  bool has_permit = false;
  /// Turns that were begun. By its own thread.
  std::atomic<std::uint64_t> turns{0};

  /// Called by its own thread, once, before all else.
  void open() { ::pthread_getcpuclockid(::pthread_self(), &clock_); }

  /// Whether the turn that it is at is stuck, as far as can be told from here and from the last
  /// call, which was about `stuck_after` ago.
  bool is_stuck(Time now) {
    const std::uint64_t turn = turns.load(std::memory_order_relaxed);
    const Time used = cpu_time();
    const bool same = turn == seen_turn_;
    if (!same) turn_since_ = now;
    const bool idle =
        same && now - seen_at_ >= stuck_after / 2 && (used - seen_used_) * 2 < now - seen_at_;
    seen_turn_ = turn;
    seen_used_ = used;
    seen_at_ = now;
    return idle || now - turn_since_ >= long_after;
  }

 private:
  Time cpu_time() const {
    timespec time{};
    ::clock_gettime(clock_, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  clockid_t clock_{};
  std::uint64_t seen_turn_ = 0;
  Time seen_used_{}, seen_at_{}, turn_since_{};
};

}  // namespace piracema::runtime
