#include "base/log.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <deque>
#include <mutex>

#include "base/log_time.h"
#include "base/text.h"

namespace piracema {

namespace {

std::mutex mutex;
LogSettings settings;
std::string status_line;
bool with_times = false;
std::size_t lines_to_keep = 0;
std::deque<LoggedLine> kept_lines;
constexpr std::size_t kept_bytes_max = 2'000;

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

namespace {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string as_json(Level level, std::string_view message) {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  char stamp[32];
  std::snprintf(stamp, sizeof stamp, "%lld.%03ld", static_cast<long long>(time.tv_sec),
                time.tv_nsec / 1'000'000);
  return concat("{\"ts\":", stamp, ",\"level\":\"", name_of(level),
                "\",\"who\":", json_string(settings.who), ",\"message\":", json_string(message),
                "}\n");
}

std::string time_of_day() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  tm parts{};
  gmtime_r(&time.tv_sec, &parts);
  char day[32], all[64];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(all, sizeof all, "%s.%03ldZ ", day, time.tv_nsec / 1'000'000);
  return all;
}

std::string as_text(Level level, std::string_view message) {
  std::string line = with_times ? time_of_day() : "";
  line += "piracema";
  if (!settings.who.empty()) line += concat(" ", settings.who);
  line += ": ";
  if (level == Level::warning || level == Level::error) line += concat(name_of(level), ": ");
  return line + std::string(message) + '\n';
}

void keep(Level level, std::string_view message) {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  if (kept_lines.size() >= lines_to_keep) kept_lines.pop_front();
  kept_lines.push_back({static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec),
                        level, std::string(message.substr(0, kept_bytes_max))});
}

// One write a line, so that the lines of several processes do not mix.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

constexpr std::string_view clear_line = "\r\x1b[K";

}  // namespace

void set_log(LogSettings to) {
  std::lock_guard lock(mutex);
  settings = std::move(to);
}

void set_log_times(bool on) {
  std::lock_guard lock(mutex);
  with_times = on;
}

LogSettings log_settings() {
  std::lock_guard lock(mutex);
  return settings;
}

void keep_log(std::size_t lines) {
  std::lock_guard lock(mutex);
  lines_to_keep = lines;
}

std::vector<LoggedLine> logged_lines() {
  std::lock_guard lock(mutex);
  return {kept_lines.begin(), kept_lines.end()};
}

void log(Level level, std::string_view message) {
  std::lock_guard lock(mutex);
  if (level < settings.least) return;
  if (lines_to_keep != 0) keep(level, message);
  const std::string line = settings.json ? as_json(level, message) : as_text(level, message);
  if (status_line.empty()) {
    write_all(line);
  } else {
    write_all(concat(clear_line, line, status_line));
  }
}

void set_status_line(std::string text) {
  std::lock_guard lock(mutex);
  if (text.empty() && status_line.empty()) return;
  status_line = std::move(text);
  write_all(concat(clear_line, status_line));
}

}  // namespace piracema
