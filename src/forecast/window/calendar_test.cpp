#include "forecast/window/calendar.h"

#include <doctest/doctest.h>

#include "base/random.h"

namespace piracema::ckpt {

namespace {

constexpr WallTime hour = 3600, day = 24 * hour;
/// 2026-11-16 was a Monday.
constexpr WallTime monday = 20'773 * day;

std::vector<WindowRule> rules(const char* text) {
  auto parsed = parse_windows("w", text);
  REQUIRE(parsed.ok());
  return *std::move(parsed);
}

}  // namespace

TEST_CASE("the paper's nights and weekends") {
  const auto lent = rules("mon-fri 20:00 06:00  # nights\nsat,sun 00:00 24:00\n");
  // At noon on Monday the night is next.
  auto window = next_window(lent, monday + 12 * hour, "h");
  REQUIRE(window);
  CHECK_FALSE(window->is_open(monday + 12 * hour));
  CHECK(window->opens == monday + 20 * hour);
  CHECK(window->closes == monday + 30 * hour);
  // At 3 in the morning it is open.
  CHECK(next_window(lent, monday + 27 * hour, "h")->is_open(monday + 27 * hour));
  // From Friday evening to the end of Sunday it is one window; the job is not stopped at midnight.
  window = next_window(lent, monday + 4 * day + 21 * hour, "h");
  CHECK(window->opens == monday + 4 * day + 20 * hour);
  CHECK(window->closes == monday + 7 * day);
  CHECK(next_window(lent, monday + 7 * day, "h")->opens == monday + 7 * day + 20 * hour);
}

TEST_CASE("a window is for the hosts that it names") {
  const auto lent = rules("daily 20:00 22:00 lab*,ws1\ndaily 01:00 02:00 ws2\n");
  CHECK(next_window(lent, monday, "lab17")->opens == monday + 20 * hour);
  CHECK(next_window(lent, monday, "ws2")->opens == monday + 1 * hour);
  CHECK_FALSE(next_window(lent, monday, "ws3").has_value());
}

TEST_CASE("a window may open and close at a second") {
  const auto lent = rules("daily 20:00:10 20:00:25\n");
  const auto window = next_window(lent, monday + 20 * hour + 11, "h");
  REQUIRE(window);
  CHECK(window->opens == monday + 20 * hour + 10);
  CHECK(window->closes == monday + 20 * hour + 25);
}

TEST_CASE("a minute is in a window if and only if a rule says so") {
  const auto lent = rules("sat-mon 22:30 03:15\nwed 10:00 10:00\nthu 09:00 12:00\n");
  Random random(3);
  for (int i = 0; i < 20'000; ++i) {
    const WallTime now = monday + static_cast<WallTime>(random.below(14 * day));
    const auto weekday = (now / day + 3) % 7;
    const WallTime minute = now % day / 60, before = (weekday + 6) % 7;
    const bool late = minute >= 22 * 60 + 30, early = minute < 3 * 60 + 15;
    const auto is_late_day = [](WallTime d) { return d == 5 || d == 6 || d == 0; };
    const bool open = (late && is_late_day(weekday)) || (early && is_late_day(before)) ||
                      (weekday == 2 && minute >= 600) || (weekday == 3 && minute < 600) ||
                      (weekday == 3 && minute >= 540 && minute < 720);
    CAPTURE(now - monday);
    const auto window = next_window(lent, now, "h");
    REQUIRE(window);
    CHECK(window->is_open(now) == open);
    CHECK(window->closes > now);
  }
}

TEST_CASE("what is no window is told with its line") {
  for (const char* wrong :
       {"mon 20:00", "mon 20:00 25:00", "moon 20:00 06:00", "mon 2000 06:00", "mon 20:00 06:60",
        "mon- 20:00 06:00", "mon 20:00 06:00 a b", "mon 20:00:60 21:00", "mon 20:00:1 21:00",
        "mon 20:00:00:00 21:00", "mon 24:00:01 06:00", "# none"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_windows("w", wrong).ok());
  }
  CHECK(parse_windows("w", "\n\nx 1 2").error().message.starts_with("w:3: "));
}

TEST_CASE("a time of day is the next one that comes") {
  const int six = *parse_time_of_day("06:00");
  CHECK(next_time_of_day(monday + 5 * hour, six) == monday + 6 * hour);
  CHECK(next_time_of_day(monday + 6 * hour, six) == monday + 30 * hour);
  CHECK(*parse_time_of_day("06:00:30") == six + 30);
  CHECK(*parse_time_of_day("6:00") == six);
  CHECK(*parse_time_of_day("6:00:30") == six + 30);
}

}  // namespace piracema::ckpt
