#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace piracema {

enum class Level { debug, info, warning, error };
const char* name_of(Level);

/// What the process writes to standard error about itself; safe from any thread.
struct LogSettings {
  Level least = Level::info;
  /// One JSON object a line instead of text.
  bool json = false;
  /// Who speaks: "worker 2"; empty for the first process.
  std::string who;
};
void set_log(LogSettings);
LogSettings log_settings();

/// Writes one line.
void log(Level, std::string_view message);

/// A line that was logged. `at` is in seconds since 1970; a long text is cut.
struct LoggedLine {
  double at = 0;
  Level level = Level::info;
  std::string text;
};
/// Keeps the last `lines` lines from now on, for `logged_lines`. Nothing is kept unless it was
/// called.
void keep_log(std::size_t lines);
/// Oldest first.
std::vector<LoggedLine> logged_lines();

/// Puts text that is redrawn, such as a progress line, below the log: it is cleared before and
/// drawn again after each line that is logged. Empty takes it away.
void set_status_line(std::string text);

}  // namespace piracema
