#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "base/clock.h"

namespace piracema::store {

/// Between the tries of a request that a server may be able to do later: each is longer than the
/// one before, and no two who ask have the same.
class Pauses {
 public:
  explicit Pauses(std::chrono::milliseconds last_try_after)
      : until_(now() + Time(last_try_after)) {}
  /// False: it is too late for another try.
  bool pass() {
    std::uniform_int_distribution<std::int64_t> share(pause_.count() / 2, pause_.count());
    const std::chrono::milliseconds pause(share(random_));
    if (now() + Time(pause) > until_) return false;
    std::this_thread::sleep_for(pause);
    pause_ = std::min(2 * pause_, longest_);
    return true;
  }

 private:
  static constexpr std::chrono::milliseconds longest_{2'000};
  const Time until_;
  std::chrono::milliseconds pause_{100};
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace piracema::store
