#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace piracema::cluster {

/// How long a host that could not be reached, or was lost, is left alone before it is called again:
/// longer each time. An agent on this machine is only started again. Pure.
class CallPause {
 public:
  /// Whether the next one is the first since the host was there.
  bool is_first() const { return pause_ == Time{}; }
  Time next(bool here) {
    const Time least = here ? Time(std::chrono::milliseconds(10)) : Time(std::chrono::seconds(1));
    pause_ = std::clamp<Time>(2 * pause_, least, std::chrono::seconds(16));
    return pause_;
  }
  /// The host is there, or is wanted again.
  void begin_anew() { pause_ = {}; }

 private:
  Time pause_{};
};

}  // namespace piracema::cluster
