#include "forecast/window/calendar.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr WallTime day_seconds = 86'400;
constexpr std::array<std::string_view, 7> day_names = {"mon", "tue", "wed", "thu",
                                                       "fri", "sat", "sun"};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

std::optional<std::size_t> day_of(std::string_view name) {
  const auto found = std::find(day_names.begin(), day_names.end(), name);
  if (found == day_names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - day_names.begin());
}

// "mon-fri,sun"; a range may go over the weekend: "sat-mon".
std::optional<unsigned> parse_days(const std::string& text) {
  if (text == "daily") return 0x7F;
  unsigned days = 0;
  for (const std::string& part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = day_of(std::string_view(part).substr(0, dash));
    const auto last = dash == part.npos ? first : day_of(std::string_view(part).substr(dash + 1));
    if (!first || !last) return std::nullopt;
    for (std::size_t day = *first;; day = (day + 1) % 7) {
      days |= 1u << day;
      if (day == *last) break;
    }
  }
  return days == 0 ? std::nullopt : std::optional(days);
}

bool is_for(const WindowRule& rule, const std::string& host) {
  return rule.hosts.empty() ||
         std::any_of(rule.hosts.begin(), rule.hosts.end(), [&](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), host.c_str(), 0) == 0;
         });
}

WallTime floor_day(WallTime time) {
  return (time >= 0 ? time : time - day_seconds + 1) / day_seconds;
}

}  // namespace

Result<int> parse_time_of_day(std::string_view text) {
  const Error wrong{Errc::usage, concat("want a time of day such as 06:00, found '", text, "'")};
  // 6:00 is 06:00.
  const std::string full = text.find(':') == 1 ? concat("0", text) : std::string(text);
  if (full.size() != 5 && full.size() != 8) return wrong;
  std::array<int, 3> parts{};
  for (std::size_t i = 0; i < full.size(); ++i) {
    const bool is_colon = i % 3 == 2;
    if (is_colon ? full[i] != ':' : full[i] < '0' || full[i] > '9') return wrong;
    if (!is_colon) parts[i / 3] = parts[i / 3] * 10 + full[i] - '0';
  }
  const auto [hours, minutes, seconds] = parts;
  const int second = (hours * 60 + minutes) * 60 + seconds;
  if (minutes > 59 || seconds > 59 || second > day_seconds) return wrong;
  return second;
}

Result<std::vector<WindowRule>> parse_windows(const std::string& file, std::string_view text) {
  std::vector<WindowRule> rules;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    number += 1;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string days, from, to, hosts, more;
    if (!(words >> days)) continue;
    words >> from >> to >> hosts >> more;
    const auto weekdays = parse_days(days);
    const auto opens = parse_time_of_day(from), closes = parse_time_of_day(to);
    if (!weekdays || !opens || !closes || !more.empty()) {
      return Error{Errc::config, concat(file, ":", number,
                                        ": want DAYS FROM TO [HOSTS], such as "
                                        "mon-fri 20:00 06:00 lab*, found '",
                                        line, "'")};
    }
    rules.push_back({*weekdays, *opens, *closes, split(hosts, ',')});
  }
  if (rules.empty()) return Error{Errc::config, concat(file, ": want windows, found none")};
  return rules;
}

std::optional<LentWindow> next_window(const std::vector<WindowRule>& rules, WallTime now,
                                      const std::string& host) {
  std::vector<LentWindow> all;
  const WallTime today = floor_day(now);
  for (const WindowRule& rule : rules) {
    if (!is_for(rule, host)) continue;
    for (WallTime day = today - 8; day <= today + 8; ++day) {
      // 1970-01-01 was a Thursday.
      const auto weekday = static_cast<unsigned>(((day + 3) % 7 + 7) % 7);
      if ((rule.weekdays >> weekday & 1) == 0) continue;
      const WallTime midnight = day * day_seconds;
      WallTime closes = midnight + rule.closes;
      if (rule.closes <= rule.opens) closes += day_seconds;
      all.push_back({midnight + rule.opens, closes});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.opens < b.opens; });
  std::optional<LentWindow> one;
  for (const LentWindow& next : all) {
    if (one && next.opens <= one->closes) {
      one->closes = std::max(one->closes, next.closes);
    } else if (one && one->closes > now) {
      return one;
    } else {
      one = next;
    }
  }
  return one && one->closes > now ? one : std::nullopt;
}

WallTime next_time_of_day(WallTime now, int second) {
  const WallTime at = floor_day(now) * day_seconds + second;
  return at > now ? at : at + day_seconds;
}

}  // namespace piracema::ckpt
