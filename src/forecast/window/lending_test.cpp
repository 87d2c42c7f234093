#include "forecast/window/lending.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_CASE("a machine is lent while a window is open, and has to be given back by its end") {
  Lending lending({});
  CHECK_FALSE(lending.is_lent(hours(1)));
  lending.window(hours(10));
  CHECK(lending.is_lent(hours(1)));
  CHECK(lending.gone_by(hours(1)) == hours(10));
  CHECK_FALSE(lending.is_lent(hours(10)));
  CHECK(*lending.gone_by(hours(11)) <= hours(11));
}

TEST_CASE("a user who comes has the machine within the grace, whatever the calendar says") {
  Lending lending({.grace = seconds(10)});
  lending.window(hours(10));
  lending.user(hours(1), true);
  CHECK_FALSE(lending.is_lent(hours(1)));
  CHECK(lending.gone_by(hours(1)) == hours(1) + seconds(10));
  // The promise is not renewed while he is there.
  lending.user(hours(2), true);
  CHECK(lending.gone_by(hours(2)) == hours(1) + seconds(10));
}

TEST_CASE("who has just left may come back at once") {
  Lending lending({.idle = minutes(10)});
  lending.window(hours(10));
  lending.user(hours(1), true);
  lending.user(hours(2), false);
  CHECK_FALSE(lending.is_lent(hours(2) + minutes(9)));
  CHECK(lending.is_lent(hours(2) + minutes(10)));
}

TEST_CASE("what was lent may stand still while a user is there, for a part of the grace") {
  Lending lending({.grace = seconds(60), .idle = minutes(10), .suspend = seconds(40)});
  lending.window(hours(10));
  lending.user(hours(1), true);
  CHECK(lending.suspended_until() == hours(1) + seconds(40));
  CHECK(lending.gone_by(hours(1)) == hours(1) + seconds(60));
  // He has gone in time: it goes on, and nothing else begins.
  lending.user(hours(1) + seconds(39), false);
  CHECK_FALSE(lending.suspended_until().has_value());
  CHECK_FALSE(lending.is_lent(hours(1) + minutes(5)));
  CHECK(lending.keeps(hours(1) + minutes(5)));
  CHECK(lending.gone_by(hours(1) + minutes(5)) == hours(10));
  // He is back: the same once more.
  lending.user(hours(1) + minutes(6), true);
  CHECK(lending.suspended_until() == hours(1) + minutes(6) + seconds(40));
  CHECK_FALSE(lending.keeps(hours(1) + minutes(6)));
  // He stays: it has left by now.
  lending.user(hours(1) + minutes(7), false);
  CHECK_FALSE(lending.keeps(hours(1) + minutes(8)));
}

TEST_CASE("nothing stands still for longer than the grace, or where nothing was lent") {
  Lending lending({.grace = seconds(10), .suspend = hours(1)});
  lending.user(seconds(1), true);
  CHECK_FALSE(lending.suspended_until().has_value());
  lending.user(seconds(2), false);
  CHECK_FALSE(lending.keeps(seconds(3)));
  lending.window(hours(10));
  lending.user(hours(1), true);
  CHECK(lending.suspended_until() == hours(1) + seconds(10));
  // The calendar's window closes meanwhile.
  lending.user(hours(1) + seconds(5), false);
  CHECK(lending.keeps(hours(1) + seconds(6)));
  lending.window(std::nullopt);
  CHECK_FALSE(lending.keeps(hours(1) + seconds(6)));
}

TEST_CASE("where nothing may stand still a user has it leave at once") {
  Lending lending({.when_idle = true});
  lending.user(seconds(0), false);
  CHECK(lending.is_lent(hours(1)));
  lending.user(hours(1), true);
  CHECK_FALSE(lending.suspended_until().has_value());
  lending.user(hours(1) + seconds(1), false);
  CHECK_FALSE(lending.keeps(hours(1) + seconds(2)));
}

TEST_CASE("an idle machine is lent without an end, if that is wanted") {
  Lending lending({.idle = minutes(10), .when_idle = true});
  CHECK_FALSE(lending.is_lent(hours(1)));
  lending.user(hours(1), false);
  CHECK(lending.idle_at() == hours(1) + minutes(10));
  CHECK_FALSE(lending.is_lent(hours(1) + minutes(9)));
  CHECK(lending.is_lent(hours(1) + minutes(10)));
  CHECK_FALSE(lending.gone_by(hours(1) + minutes(10)).has_value());
}

}  // namespace piracema::ckpt
