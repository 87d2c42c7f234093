#include "run/replica/counters.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::runtime;

TEST_CASE("what a replica waits for room counts while it waits, and afterwards") {
  Counters counters;
  CHECK_FALSE(counters.waits_for_room());
  CHECK(counters.blocked_by(Time(100)) == 0);
  counters.wait_for_room(true, Time(100));
  CHECK(counters.waits_for_room());
  CHECK(counters.blocked_by(Time(130)) == 30);
  counters.wait_for_room(false, Time(150));
  CHECK(counters.blocked_by(Time(900)) == 50);
  counters.wait_for_room(true, Time(1'000));
  CHECK(counters.blocked_by(Time(1'001)) == 51);
  // A clock of another thread may be a little behind.
  CHECK(counters.blocked_by(Time(999)) == 50);
}

TEST_CASE("a replica that begins anew has done nothing") {
  Counters counters;
  counters.sent(3, 24);
  CHECK(counters.items_out == 3);
  CHECK(counters.bytes_out == 24);
  counters.wait_for_room(true, Time(100));
  counters.in_or_out();
  counters.clear();
  CHECK(counters.items_out == 0);
  CHECK(counters.bytes_out == 0);
  CHECK(counters.calls == 0);
  CHECK_FALSE(counters.waits_for_room());
}
