#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace piracema::smr {

/// Lets threads wait for what other threads do: awake for a while, as what they wait for often
/// takes less than falling asleep, then asleep. What `ready` reads has to be written by
/// sequentially consistent operations before the bell is rung: so either the ringer sees the
/// sleeper or the sleeper sees the change.
class Doorbell {
 public:
  /// Returns when `ready()` is true. `turns`: how often to look before falling asleep.
  template <class Ready>
  void wait(int turns, const Ready& ready) {
    for (int i = 0; i < turns; ++i) {
      if (ready()) return;
      std::this_thread::yield();
    }
    while (!ready()) {
      sleepers_.fetch_add(1);
      const std::uint32_t heard = rings_.load();
      if (!ready()) rings_.wait(heard);
      sleepers_.fetch_sub(1);
    }
  }

  /// For one of those who wait for the same.
  void ring_one() {
    if (sleepers_.load() == 0) return;
    rings_.fetch_add(1);
    rings_.notify_one();
  }
  void ring_all() {
    if (sleepers_.load() == 0) return;
    rings_.fetch_add(1);
    rings_.notify_all();
  }

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace piracema::smr
