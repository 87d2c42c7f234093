#include "forecast/window/lent_calendar.h"

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "base/host_name.h"

namespace piracema::ckpt {

namespace {

std::time_t utc_at(WallTime wall) {
  std::tm fields{};
  const std::time_t as_utc = wall;
  ::gmtime_r(&as_utc, &fields);
  fields.tm_isdst = -1;
  return ::mktime(&fields);
}

}  // namespace

WallTime wall_at(std::time_t utc) {
  std::tm local{};
  ::localtime_r(&utc, &local);
  return ::timegm(&local);
}

// A clock that shows whole seconds is behind by what has passed of this one.
Time steady_at(WallTime wall) {
  timespec wall_now{};
  ::clock_gettime(CLOCK_REALTIME, &wall_now);
  return now() + std::chrono::seconds(utc_at(wall) - wall_now.tv_sec) -
         std::chrono::nanoseconds(wall_now.tv_nsec);
}

std::string wall_text(Time at, const char* format) {
  using std::chrono::system_clock;
  const auto then = std::chrono::round<std::chrono::seconds>(system_clock::now() + (at - now()));
  const std::time_t utc = system_clock::to_time_t(then);
  std::tm local{};
  ::localtime_r(&utc, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), format, &local);
  return text.data();
}

Result<LentCalendar> LentCalendar::read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{Errc::config, with_errno(path)};
  auto rules = parse_windows(path, text.str());
  if (!rules) return rules.error();
  return LentCalendar(*std::move(rules), host_name());
}

std::optional<LentSpan> LentCalendar::window_at(Time at) const {
  const auto ahead = std::chrono::ceil<std::chrono::seconds>(at - now()).count();
  const auto window = next_window(rules_, wall_at(std::time(nullptr) + ahead), host_);
  if (!window) return std::nullopt;
  return LentSpan{steady_at(window->opens), steady_at(window->closes)};
}

std::optional<Time> LentCalendar::closes() const {
  const auto window = next_window(rules_, wall_at(std::time(nullptr)), host_);
  if (!window || !window->is_open(wall_at(std::time(nullptr)))) return std::nullopt;
  return steady_at(window->closes);
}

}  // namespace piracema::ckpt
