#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the process writes to standard error about itself; safe from any thread.
namespace piracema {

enum class Level { debug, info, warning, error };
const char* name_of(Level);
/// Nothing if there is none with that name.
std::optional<Level> level_named(std::string_view name);

enum class LogFormat {
  brief,  ///< "piracema worker 2: warning: …", for who looks on.
  text,   ///< The same with the time before it and the level in each line.
  json,   ///< One object a line, as in docs/reference.md.
};
/// "text" or "json"; else Errc::usage.
Result<LogFormat> parse_log_format(std::string_view name);

/// Before anything is set PIRACEMA_LOG_FORMAT, PIRACEMA_LOG_DIRECTORY and PIRACEMA_LOG_FILE_SIZE
/// (of each file, in bytes; 0: no bound) count, and without them lines are brief.
void set_log_format(LogFormat);
LogFormat log_format();
/// Lines of less weight are left out; info at first.
void set_log_level(Level least);
/// Who speaks: "worker 2"; empty for the first process.
void set_log_process(std::string name);
/// From now on lines are appended to a file there as well, one for each host and process:
/// "HOST.worker-2.log". The directory is made if need be. Empty: no file. Errc::config if none can
/// be written there.
Result<Done> set_log_directory(std::string directory);

/// The variables that make another process log as this one does: NAME=VALUE.
std::vector<std::string> log_environment();
/// Takes them from such a list; a directory where nothing can be written is warned of.
void use_log_environment(const std::vector<std::string>& variables);

/// Writes one line. `message` may have a hint (base/hint.h), which JSON has by itself.
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
