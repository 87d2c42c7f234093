#pragma once

#include <string>
#include <string_view>

namespace piracema {

enum class Level { debug, info, warning, error };

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

/// Puts text that is redrawn, such as a progress line, below the log: it is cleared before and
/// drawn again after each line that is logged. Empty takes it away.
void set_status_line(std::string text);

}  // namespace piracema
