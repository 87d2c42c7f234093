#include "forecast/window/user_presence.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

using std::chrono::seconds;

TEST_CASE("who typed a moment ago is there, who did an hour ago is not") {
  UserPresence presence({});
  CHECK(presence.step(seconds(1), {.input_age = 5}));
  CHECK_FALSE(presence.step(seconds(2), {.input_age = 3600}));
  CHECK_FALSE(presence.step(seconds(3), {.input_age = std::nullopt}));
}

TEST_CASE("a machine that others keep busy is in use, one that we keep busy is not") {
  UserPresence others({}), ours({});
  bool busy = false;
  for (int i = 0; i < 120; ++i) {
    busy = others.step(seconds(i), {.busy = 1.0 * i});
    CHECK_FALSE(ours.step(seconds(i), {.busy = 2.0 * i, .ours = 2.0 * i - 0.1 * (i % 3)}));
  }
  CHECK(busy);
  CHECK(others.load() == doctest::Approx(1).epsilon(0.1));
  // Over half a minute: what takes a second is nobody.
  UserPresence calm({});
  CHECK_FALSE(calm.step(seconds(0), {}));
  CHECK_FALSE(calm.step(seconds(60), {}));
  CHECK_FALSE(calm.step(seconds(61), {.busy = 2}));
  for (int i = 0; i < 120; ++i) (void)others.step(seconds(120 + i), {.busy = 119});
  CHECK_FALSE(others.step(seconds(240), {.busy = 119}));
}

TEST_CASE("a look at this machine finds its processor time, and ours in it") {
  const MachineLook look = look_at_machine({});
  CHECK(look.busy > 0);
  CHECK(look.ours >= 0);
  CHECK(look.ours <= look.busy);
}

}  // namespace piracema::ckpt
