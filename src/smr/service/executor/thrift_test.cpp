#include "smr/service/executor/thrift.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;

namespace {

using std::chrono::microseconds;

// A window of 100 that two threads could do in 50 steps.
constexpr std::size_t window_tasks = 100;
constexpr Prospect halves{.steps = 50, .handovers = 1};

// In how many of so many windows threads were used.
int windows_with_threads(Thrift& thrift, int windows, Time alone, Time together) {
  int used = 0;
  for (int i = 0; i < windows; ++i) {
    if (thrift.may_pay(window_tasks) && thrift.pays(window_tasks, halves)) {
      thrift.learn_together(window_tasks, together, 2 * together);
      used += 1;
    } else {
      thrift.learn_alone(window_tasks, alone);
    }
  }
  return used;
}

}  // namespace

TEST_CASE("short operations are done alone, without a look at them") {
  Thrift thrift(Prices{});
  thrift.learn_alone(window_tasks, microseconds(20));
  CHECK_FALSE(thrift.may_pay(window_tasks));
  thrift.learn_alone(window_tasks, microseconds(20));
  CHECK(windows_with_threads(thrift, 100, microseconds(20), microseconds(10)) == 0);
}

TEST_CASE("a chain of conflicts is done alone, however long its operations are") {
  Thrift thrift(Prices{});
  thrift.learn_alone(window_tasks, microseconds(100'000));
  CHECK(thrift.may_pay(window_tasks));
  CHECK_FALSE(thrift.pays(window_tasks, {.steps = window_tasks, .handovers = 0}));
}

TEST_CASE("threads are used where they gain, and left where they do not, with few trials") {
  Thrift gains(Prices{});
  CHECK(windows_with_threads(gains, 1'000, microseconds(1'000), microseconds(600)) > 950);
  Thrift loses(Prices{});
  const int used = windows_with_threads(loses, 1'000, microseconds(1'000), microseconds(1'600));
  CHECK(used >= 2);
  CHECK(used < 20);
}

TEST_CASE("what has changed is noticed") {
  Thrift thrift(Prices{});
  windows_with_threads(thrift, 1'000, microseconds(1'000), microseconds(1'600));
  CHECK(windows_with_threads(thrift, 1'000, microseconds(1'000), microseconds(600)) > 850);
}
