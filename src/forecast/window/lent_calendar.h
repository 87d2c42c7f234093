#pragma once

#include <piracema/error.h>

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "forecast/window/calendar.h"

namespace piracema::ckpt {

/// When the machine is lent.
struct LentSpan {
  Time opens{}, closes{};
};

/// What the clock on the wall shows at a point of time, and the other way round. It jumps where a
/// summer begins or ends, so both are asked for each time.
WallTime wall_at(std::time_t utc);
/// As the machine's monotonic clock will show it, as far as is known now.
Time steady_at(WallTime wall);
/// What the clock on the wall will show then, in the words of strftime(3).
std::string wall_text(Time at, const char* format);

/// The windows of this host, by a file and the clock on the wall.
class LentCalendar {
 public:
  /// Errc::config with FILE, or FILE:LINE.
  static Result<LentCalendar> read(const std::string& path);

  /// The window that is open at that time or the next one; none: not within eight days.
  std::optional<LentSpan> window_at(Time at) const;
  /// Of the one that is open now, if one is.
  std::optional<Time> closes() const;

 private:
  LentCalendar(std::vector<WindowRule> rules, std::string host)
      : rules_(std::move(rules)), host_(std::move(host)) {}

  std::vector<WindowRule> rules_;
  std::string host_;
};

}  // namespace piracema::ckpt
