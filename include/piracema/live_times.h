#pragma once

#include <chrono>

namespace piracema {

/// Of items that happen about when they come: readings, requests, pages as they are visited. Their
/// event time goes by the clock of the host as well (event_time.h), so which of them are late is
/// not the same in each run. Not for what is read again later, such as a file of last week.
struct LiveTimes {
  /// Where nothing has come for so long, event time is at the clock's time less this, less the time
  /// to wait, and goes on with the clock: results come out, and other sources are not held up. What
  /// was on its way for longer than that is late then. From 1 ms to a year.
  std::chrono::nanoseconds idle_after = std::chrono::seconds(30);
  /// An item whose time is further ahead of the clock is left out with the late ones, and makes no
  /// other item late. From 0 to a year.
  std::chrono::nanoseconds ahead_at_most = std::chrono::minutes(1);
};

}  // namespace piracema
