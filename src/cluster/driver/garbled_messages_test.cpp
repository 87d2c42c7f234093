#include "cluster/driver/garbled_messages.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::cluster;

TEST_CASE("a job survives two messages that nobody can read, of whichever workers, and not three") {
  GarbledMessages garbled;
  CHECK_FALSE(garbled.take(0, "a frame of kind 99"));
  CHECK_FALSE(garbled.take(1, "a frame of kind 99"));
  const auto why = garbled.take(2, "a frame of kind 98");
  REQUIRE(why);
  CHECK(why->code == Errc::config);
  CHECK(why->message ==
        "worker 2 says what no worker of this version says, 3 times now: a frame of kind 98");
}
