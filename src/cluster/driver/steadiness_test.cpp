#include "cluster/driver/steadiness.h"

#include <doctest/doctest.h>

using namespace piracema;
using cluster::Steadiness;
using std::chrono::seconds;

TEST_CASE("a host is steady from the first look that finds it usable") {
  Steadiness host;
  CHECK_FALSE(host.is_steady(seconds(1)));
  host.look(seconds(1), false);
  CHECK_FALSE(host.is_steady(seconds(1)));
  host.look(seconds(2), true);
  CHECK(host.is_steady(seconds(2)));
}

TEST_CASE("after each gap a host is on trial for twice as long, up to five minutes") {
  Steadiness host;
  Time now{};
  host.look(now, true);
  for (const int trial : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    host.look(now, false);
    host.look(now, false);  // The same gap.
    CHECK_FALSE(host.is_steady(now));
    host.look(now, true);
    CHECK_FALSE(host.is_steady(now + seconds(trial) - Time(1)));
    now += seconds(trial);
    host.look(now, true);
    CHECK(host.is_steady(now));
  }
}
