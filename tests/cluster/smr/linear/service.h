#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/clock.h"

namespace piracema::testing {

/// When the group as a whole answered. Any thread.
class Service {
 public:
  /// Since `begin`: the longest time in which nobody was answered, and the longest that one waited
  /// for an answer that came.
  struct Gap {
    Time without_answer{}, slowest_answer{};
  };

  void answered(Time call);
  void begin();
  Gap end();
  std::uint64_t answers() const;
  /// Until so many more were answered; false if that takes longer.
  bool wait_for(std::uint64_t more, Time patience);

 private:
  mutable std::mutex mutex_;
  std::condition_variable progress_;
  Time last_{};
  Gap gap_;
  std::uint64_t answers_ = 0;
};

}  // namespace piracema::testing
