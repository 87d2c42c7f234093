#pragma once

#include <chrono>

#include "base/clock.h"

namespace piracema {

/// Looks again before a thread goes to sleep. A sleep and a wake cost the two threads up to some
/// fifty microseconds, on a virtual machine above all; so what comes within about that time is
/// waited for awake, if it usually does come then. The core is yielded between two looks. Who
/// usually waits longer, or has found that the core is wanted by others, does not look again. Used
/// by one thread.
class AdaptiveSpin {
 public:
  AdaptiveSpin() : AdaptiveSpin(now, yield) {}
  /// By another clock, and another way to leave the core to others.
  AdaptiveSpin(Time (*clock)(), void (*leave)()) : clock_(clock), yield_(leave) {}

  /// Whether `come` was true within that time. If not, and after a sleep: `slept`.
  template <class Come>
  bool until(Come come) {
    begin();
    while (!come()) {
      if (!look_again()) return false;
    }
    slept();
    return true;
  }

  /// It has come at last.
  void slept();

 private:
  static void yield();
  void begin();
  /// Not before it has yielded; false if there was time enough.
  bool look_again();
  void give_way();

  Time (*clock_)();
  void (*yield_)();
  Time since_{}, at_{}, until_{}, usual_ = std::chrono::milliseconds(1);
  Time not_before_{}, way_{};
};

}  // namespace piracema
