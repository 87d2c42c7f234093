#pragma once

#include <chrono>

#include "base/clock.h"

namespace piracema {

/// How long to look again before going to sleep. A sleep and a wake cost the two threads up to some
/// fifty microseconds, on a virtual machine above all; so what comes within about that time is
/// waited for awake, if it usually does come then. The core is yielded between two looks. Who
/// usually waits longer, or has found that the core is wanted by others, does not look again. Used
/// by one thread.
class Patience {
 public:
  /// Whether `come` was true within that time. If not, and after a sleep: `slept`.
  template <class Come>
  bool until(Come come) {
    bool may_look = begin();
    while (!come()) {
      if (!may_look) return false;
      may_look = look_again();
    }
    slept();
    return true;
  }

  /// It has come at last.
  void slept();

 private:
  /// Whether one look is not all.
  bool begin();
  bool look_again();
  void give_way();

  Time since_{}, at_{}, usual_ = std::chrono::milliseconds(1);
  Time not_before_{}, way_{};
};

}  // namespace piracema
