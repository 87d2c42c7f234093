#include "base/adaptive_spin.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace piracema;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

Time time_now{};
Time yield_takes{};

/// Its time goes on by yields and by what a test says, and by nothing else.
struct Waiter {
  Waiter() : spin([] { return time_now; }, [] { time_now += yield_takes; }) {
    time_now = milliseconds(1);
    yield_takes = microseconds(1);
  }

  /// How often it looks for what does not come.
  int looks() {
    int count = 0;
    CHECK_FALSE(spin.until([&] {
      count += 1;
      return false;
    }));
    return count;
  }
  void finds_it_at_once(int times) {
    for (int i = 0; i < times; ++i) CHECK(spin.until([] { return true; }));
  }
  /// Looks, and sleeps if it must, until it has come.
  void it_comes_after(Time how_long) {
    const Time when = time_now + how_long;
    if (spin.until([&] { return time_now >= when; })) return;
    time_now = std::max(time_now, when);
    spin.slept();
  }

  AdaptiveSpin spin;
};

}  // namespace

TEST_CASE("what is there is found by one look") {
  Waiter waiter;
  int count = 0;
  CHECK(waiter.spin.until([&] { return ++count == 1; }));
  CHECK(count == 1);
}

TEST_CASE("who knows nothing yet sleeps at once") { CHECK(Waiter().looks() == 1); }

TEST_CASE("who has usually found it soon looks again, for a while") {
  Waiter waiter;
  waiter.finds_it_at_once(100);
  CHECK(waiter.looks() == 11);  // Ten microseconds.
  int count = 0;
  CHECK(waiter.spin.until([&] { return ++count == 5; }));
}

TEST_CASE("who has usually slept for long sleeps at once, and learns when that has changed") {
  Waiter waiter;
  waiter.finds_it_at_once(100);
  for (int i = 0; i < 20; ++i) waiter.it_comes_after(milliseconds(1));
  CHECK(waiter.looks() == 1);
  for (int i = 0; i < 20; ++i) waiter.it_comes_after(microseconds(30));
  CHECK(waiter.looks() > 100);
}

TEST_CASE("a core that others want is left to them, longer and longer") {
  Waiter waiter;
  waiter.finds_it_at_once(100);
  Time before{};
  for (int round = 0; round < 10; ++round) {
    yield_takes = milliseconds(3);
    CHECK(waiter.looks() == 2);
    const Time given_way = time_now;
    yield_takes = microseconds(1);
    while (waiter.looks() == 1) time_now += milliseconds(1);
    CHECK(time_now - given_way >= before);
    before = time_now - given_way;
  }
  CHECK(before >= milliseconds(990));
  CHECK(before <= milliseconds(1010));
}
