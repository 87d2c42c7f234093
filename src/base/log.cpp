#include "base/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <mutex>

#include "base/hint.h"
#include "base/host_name.h"
#include "base/json_string.h"
#include "base/log_file.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema {

namespace {

constexpr const char* format_variable = "PIRACEMA_LOG_FORMAT";
constexpr const char* directory_variable = "PIRACEMA_LOG_DIRECTORY";
constexpr const char* file_size_variable = "PIRACEMA_LOG_FILE_SIZE";
constexpr std::uint64_t file_bytes_usual = 64 << 20;
constexpr std::string_view clear_line = "\r\x1b[K";
constexpr std::size_t kept_bytes_max = 2'000;

// One write a line, so that the lines of several processes do not mix.
void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(to, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// "2026-11-22T21:43:30.123Z".
std::string time_stamp(const timespec& time) {
  tm parts{};
  gmtime_r(&time.tv_sec, &parts);
  char day[32], all[64];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(all, sizeof all, "%s.%03ldZ", day, time.tv_nsec / 1'000'000);
  return all;
}

/// The log of this process. Not safe for two threads.
class Log {
 public:
  Log() {
    for (const char* name : {format_variable, directory_variable, file_size_variable}) {
      if (const char* value = std::getenv(name)) use(concat(name, "=", value));
    }
  }

  void set_format(LogFormat format) { format_ = format; }
  LogFormat format() const { return format_; }
  void set_least(Level least) { least_ = least; }
  void set_process(std::string name) {
    process_ = std::move(name);
    if (!directory_.empty()) warn_if(set_directory(directory_));
  }
  void keep_lines(std::size_t lines) { lines_to_keep_ = lines; }
  std::vector<LoggedLine> kept() const { return {kept_.begin(), kept_.end()}; }

  Result<Done> set_directory(std::string directory) {
    directory_ = std::move(directory);
    file_.reset();
    lost_ = 0;
    if (directory_.empty()) return Done{};
    if (::mkdir(directory_.c_str(), 0777) != 0 && errno != EEXIST) return refused(directory_);
    std::string name = process_.empty() ? "piracema" : process_;
    for (char& c : name) c = c == ' ' || c == '/' ? '-' : c;
    const std::string path = concat(directory_, "/", host_, ".", name, ".log");
    auto file = LogFile::open(path);
    if (!file) return file.error();
    file_ = *std::move(file);
    return Done{};
  }

  /// NAME=VALUE.
  void use(std::string_view variable) {
    const std::size_t equals = variable.find('=');
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(std::min(equals, variable.size() - 1) + 1);
    if (name == format_variable && !value.empty()) {
      if (const auto format = parse_log_format(value)) format_ = *format;
    } else if (name == directory_variable && value != directory_) {
      warn_if(set_directory(std::string(value)));
    } else if (name == file_size_variable) {
      file_bytes_max_ = parse_number<std::uint64_t>(value).value_or(file_bytes_usual);
    }
  }

  std::vector<std::string> environment() const {
    const char* const format = format_ == LogFormat::json   ? "json"
                               : format_ == LogFormat::text ? "text"
                                                            : "";
    return {concat(format_variable, "=", format), concat(directory_variable, "=", directory_),
            concat(file_size_variable, "=", file_bytes_max_)};
  }

  void write(Level level, std::string_view message) {
    if (level < least_) return;
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    show(time, level, message);
    if (file_) append(time, level, message);
  }

  void set_status(std::string text) {
    // It would be no line of JSON.
    if (format_ == LogFormat::json) text.clear();
    if (text.empty() && status_.empty()) return;
    status_ = std::move(text);
    write_all(STDERR_FILENO, concat(clear_line, status_));
  }

 private:
  void show(const timespec& time, Level level, std::string_view message) {
    keep(time, level, message);
    const std::string line = line_of(format_, time, level, message);
    write_all(STDERR_FILENO, status_.empty() ? line : concat(clear_line, line, status_));
  }

  // A disk that is full is said once, and in the file how many lines are missing there.
  void append(const timespec& time, Level level, std::string_view message) {
    // Nobody can do anything with a file of lines without times.
    const LogFormat format = format_ == LogFormat::brief ? LogFormat::text : format_;
    std::string lines = line_of(format, time, level, message);
    if (lost_ > 0) {
      const std::string gap = concat(lost_, " lines before this one could not be written");
      lines = line_of(format, time, Level::warning, gap) + lines;
    }
    if (const auto done = file_->append(lines, file_bytes_max_)) {
      lost_ = 0;
    } else if (++lost_ == 1) {
      show(time, Level::warning, done.error().message);
    }
  }

  static Error refused(const std::string& path) {
    return {Errc::config, with_errno(concat(path, ": cannot write a log there"))};
  }
  void warn_if(const Result<Done>& done) {
    if (!done) write(Level::warning, done.error().message);
  }

  std::string line_of(LogFormat format, const timespec& time, Level level,
                      std::string_view message) const {
    if (format == LogFormat::json) return as_json(time, level, message);
    std::string line = format == LogFormat::text ? time_stamp(time) + " piracema" : "piracema";
    if (!process_.empty()) line += concat(" ", process_);
    line += ": ";
    if (format == LogFormat::text || level >= Level::warning) {
      line += concat(name_of(level), ": ");
    }
    return line + std::string(message) + '\n';
  }

  std::string as_json(const timespec& time, Level level, std::string_view text) const {
    const HintedText parts = split_hint(text);
    std::string line =
        concat("{\"time\":\"", time_stamp(time), "\",\"level\":\"", name_of(level),
               "\",\"process\":", json_string(process_.empty() ? "piracema" : process_),
               ",\"host\":", json_string(host_), ",\"pid\":", ::getpid(),
               ",\"message\":", json_string(parts.message));
    if (!parts.hint.empty()) line += concat(",\"hint\":", json_string(parts.hint));
    return line + "}\n";
  }

  void keep(const timespec& time, Level level, std::string_view message) {
    if (lines_to_keep_ == 0) return;
    if (kept_.size() >= lines_to_keep_) kept_.pop_front();
    kept_.push_back({static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec),
                     level, std::string(message.substr(0, kept_bytes_max))});
  }

  LogFormat format_ = LogFormat::brief;
  Level least_ = Level::info;
  std::string process_, directory_, status_;
  const std::string host_ = host_name();
  std::optional<LogFile> file_;
  std::uint64_t file_bytes_max_ = file_bytes_usual, lost_ = 0;
  std::size_t lines_to_keep_ = 0;
  std::deque<LoggedLine> kept_;
};

std::mutex mutex;

// Never destroyed: threads may log while the process ends.
Log& own_log() {
  static Log* const log = new Log;
  return *log;
}

}  // namespace

const char* name_of(Level level) {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
      return "error";
  }
  return "";
}

std::optional<Level> level_named(std::string_view name) {
  for (const Level level : {Level::debug, Level::info, Level::warning, Level::error}) {
    if (name == name_of(level)) return level;
  }
  return std::nullopt;
}

Result<LogFormat> parse_log_format(std::string_view name) {
  if (name == "text") return LogFormat::text;
  if (name == "json") return LogFormat::json;
  return Error{Errc::usage, concat("want text or json, found '", name, "'")};
}

void set_log_format(LogFormat format) {
  std::lock_guard lock(mutex);
  own_log().set_format(format);
}

LogFormat log_format() {
  std::lock_guard lock(mutex);
  return own_log().format();
}

void set_log_level(Level least) {
  std::lock_guard lock(mutex);
  own_log().set_least(least);
}

void set_log_process(std::string name) {
  std::lock_guard lock(mutex);
  own_log().set_process(std::move(name));
}

Result<Done> set_log_directory(std::string directory) {
  std::lock_guard lock(mutex);
  return own_log().set_directory(std::move(directory));
}

std::vector<std::string> log_environment() {
  std::lock_guard lock(mutex);
  return own_log().environment();
}

void use_log_environment(const std::vector<std::string>& variables) {
  std::lock_guard lock(mutex);
  for (const std::string& variable : variables) own_log().use(variable);
}

void keep_log(std::size_t lines) {
  std::lock_guard lock(mutex);
  own_log().keep_lines(lines);
}

std::vector<LoggedLine> logged_lines() {
  std::lock_guard lock(mutex);
  return own_log().kept();
}

void log(Level level, std::string_view message) {
  std::lock_guard lock(mutex);
  own_log().write(level, message);
}

void set_status_line(std::string text) {
  std::lock_guard lock(mutex);
  own_log().set_status(std::move(text));
}

}  // namespace piracema
