#include "smr/order/core/retransmission_timers.h"

#include <doctest/doctest.h>

#include <chrono>

using namespace piracema;
using namespace piracema::smr;

namespace {
constexpr Time interval = std::chrono::milliseconds(100);
}

TEST_CASE("each time in vain doubles the wait, up to an end, until something is decided") {
  RetransmissionTimers timers(interval, 3);
  timers.restart(Time{});
  CHECK(timers.due() == interval);
  timers.repeat(timers.due());
  CHECK(timers.due() == 3 * interval);
  timers.repeat(timers.due());
  CHECK_FALSE(timers.in_vain());
  timers.repeat(timers.due());
  CHECK(timers.in_vain());
  for (int i = 0; i < 9; ++i) timers.repeat(Time{});
  CHECK(timers.due() == 16 * interval);
  timers.restart(Time{});
  CHECK(timers.due() == interval);
  CHECK_FALSE(timers.in_vain());
}

TEST_CASE("who is ahead is asked once") {
  RetransmissionTimers timers(interval, 3);
  timers.see_others_ahead();
  CHECK(timers.others_ahead());
  timers.repeat(interval);
  CHECK_FALSE(timers.others_ahead());
}

TEST_CASE("nobody is answered more often than a correct replica asks") {
  RetransmissionTimers timers(interval, 3);
  const Time now = 10 * interval;
  CHECK(timers.may_answer(now, 1));
  CHECK_FALSE(timers.may_answer(now + interval / 4, 1));
  CHECK(timers.may_answer(now + interval / 4, 2));
  CHECK(timers.may_answer(now + interval / 2, 1));
}
