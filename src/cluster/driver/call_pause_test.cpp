#include "cluster/driver/call_pause.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a host is called again after a second, and then half as often each time, down to 16 s") {
  CallPause pause;
  CHECK(pause.is_first());
  for (const int wanted : {1, 2, 4, 8, 16, 16}) CHECK(pause.next(false) == seconds(wanted));
  CHECK_FALSE(pause.is_first());
  pause.begin_anew();
  CHECK(pause.is_first());
  CHECK(pause.next(false) == seconds(1));
}

TEST_CASE("an agent on this machine is started again at once, unless it goes on ending") {
  CallPause pause;
  CHECK(pause.next(true) == milliseconds(10));
  CHECK(pause.next(true) == milliseconds(20));
  Time last{};
  for (int i = 0; i < 20; ++i) last = pause.next(true);
  CHECK(last == seconds(16));
}
