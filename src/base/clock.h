#pragma once

#include <chrono>

namespace piracema {

/// A point of time since an arbitrary start; never goes back.
using Time = std::chrono::nanoseconds;

/// The machine's monotonic clock. Protocols never call it: their drivers tell them the time.
inline Time now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

/// What people and files count in.
constexpr double to_seconds(Time time) { return std::chrono::duration<double>(time).count(); }
constexpr Time from_seconds(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

}  // namespace piracema
