#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// When machines are lent: paper 002, section 3, has 20h00 to 6h00 and weekends. Pure: times are
/// local ones, in seconds since 1970-01-01 00:00 on the clock on the wall.
namespace piracema::ckpt {

using WallTime = std::int64_t;

struct WindowRule {
  /// Bit 0 is Monday: the days on which it opens.
  unsigned weekdays = 0;
  /// Seconds of the day; one that closes no later than it opens does so on the next day.
  int opens = 0, closes = 0;
  /// Patterns as of a shell; none: every host.
  std::vector<std::string> hosts;
};

/// Lines of "DAYS FROM TO [HOSTS]", such as "mon-fri 20:00 06:00 lab*,ws1"; '#' begins a comment,
/// "daily" is all days. Errc::config with FILE:LINE.
Result<std::vector<WindowRule>> parse_windows(const std::string& file, std::string_view text);

/// "06:00" or "06:00:30" in seconds of the day, up to 24:00. Errc::usage.
Result<int> parse_time_of_day(std::string_view text);

struct LentWindow {
  WallTime opens = 0, closes = 0;
  bool is_open(WallTime now) const { return opens <= now && now < closes; }
};

/// The window that is open for the host, else the next one within eight days. Windows that touch
/// are one.
std::optional<LentWindow> next_window(const std::vector<WindowRule>& rules, WallTime now,
                                      const std::string& host);

/// The next time that the clock on the wall shows it, after `now`.
WallTime next_time_of_day(WallTime now, int second);

}  // namespace piracema::ckpt
