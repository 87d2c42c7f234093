#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "os/exit_code.h"

namespace piracema::cluster {

/// What a signal that asks to stop means: the first one a stop in order, a later one the end at
/// once. Who ends a whole group of processes (GNU timeout, systemd, a shell) often sends the same
/// one twice: all within half a second are one.
class StopSignals {
 public:
  enum class Meaning { stop, end_at_once, nothing_new };
  static constexpr std::chrono::milliseconds same_within{500};

  Meaning take(int number, Time now) {
    if (!first_) {
      first_ = now;
      number_ = number;
      return Meaning::stop;
    }
    return now - *first_ < same_within ? Meaning::nothing_new : Meaning::end_at_once;
  }

  /// Whoever has stopped in order does not know by which signal, and ends as by SIGTERM: the code
  /// for the one that it was. Other codes stay.
  int code_of(int code) const {
    const bool is_of_signal = code == exit_code_of_signal(SIGTERM);
    return is_of_signal && number_ == SIGINT ? exit_code_of_signal(SIGINT) : code;
  }

 private:
  std::optional<Time> first_;
  /// The one that asked to stop.
  int number_ = 0;
};

}  // namespace piracema::cluster
