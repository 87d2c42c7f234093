#pragma once

#include <time.h>

#include "base/clock.h"

namespace piracema::bench {

/// What this thread has computed so far: what others do meanwhile does not count.
inline Time thread_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

inline double milliseconds_of(Time time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace piracema::bench
