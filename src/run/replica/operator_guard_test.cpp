#include "run/replica/operator_guard.h"

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "run/packet/recorder.h"

using namespace piracema;
using namespace piracema::runtime;
using piracema::runtime::testing::Recorder;

TEST_CASE("what a user throws is a failure by the item that is at work") {
  Recorder port;
  Counters counters;
  OperatorGuard guard(port, counters, nullptr);
  CHECK(guard.call("process", [] {}));
  CHECK_FALSE(guard.has_failed());
  guard.at_work()->store(13);
  CHECK_FALSE(guard.call("process", [] { throw std::runtime_error("unlucky"); }));
  CHECK(guard.has_failed());
  REQUIRE(port.failures.size() == 1);
  CHECK(port.failures[0].first == 13);
  CHECK(port.failures[0].second == "process: unlucky");
  guard.no_item();
  CHECK_FALSE(guard.call("finish", [] { throw 5; }));
  CHECK(port.failures[1].first == std::nullopt);
}

TEST_CASE("a state that cannot be had is no item's failure") {
  Recorder port;
  Counters counters;
  OperatorGuard guard(port, counters, nullptr);
  guard.at_work()->store(13);
  CHECK_FALSE(guard.call("process", [] { throw StateError("the disk is full"); }));
  CHECK(guard.has_failed());
  CHECK(port.failures[0].first == std::nullopt);
}

TEST_CASE("who is to begin anew gets through the user's code, and has not failed") {
  Recorder port;
  Counters counters;
  OperatorGuard guard(port, counters, nullptr);
  CHECK_THROWS_AS(guard.call("process", [] { throw Interrupted{}; }), Interrupted);
  CHECK_FALSE(guard.has_failed());
  CHECK(counters.calls == 2);
}

TEST_CASE("others see which item is at work where they are to") {
  Recorder port;
  Counters counters;
  std::atomic<std::uint64_t> seen{7};
  OperatorGuard guard(port, counters, &seen);
  CHECK(guard.at_work() == &seen);
  CHECK(seen == std::numeric_limits<std::uint64_t>::max());
}
