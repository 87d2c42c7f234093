#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"

namespace piracema::cluster {

/// What a signal that asks to stop means: the first one a stop in order, a later one the end at
/// once. Who ends a whole group of processes (GNU timeout, systemd, a shell) often sends the same
/// one twice: all within half a second are one.
class StopSignals {
 public:
  enum class Meaning { stop, end_at_once, nothing_new };
  static constexpr std::chrono::milliseconds same_within{500};

  Meaning take(Time now) {
    if (!first_) {
      first_ = now;
      return Meaning::stop;
    }
    return now - *first_ < same_within ? Meaning::nothing_new : Meaning::end_at_once;
  }

 private:
  std::optional<Time> first_;
};

}  // namespace piracema::cluster
