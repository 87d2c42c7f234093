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
