#include "smr/order/agreement/clock_bound.h"

#include <doctest/doctest.h>

namespace piracema::smr {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Time credit_max = milliseconds(500);

std::uint64_t batch_at(Time time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

TEST_CASE("a batch's time may go on as time does") {
  ClockBound bound(credit_max);
  bound.decided(seconds(10), batch_at(seconds(1'000)));

  CHECK(bound.allows(seconds(20), batch_at(seconds(1'010))));
  CHECK(bound.allows(seconds(20), batch_at(seconds(1'005))));
  CHECK_FALSE(bound.allows(seconds(20), batch_at(seconds(1'011))));
}

TEST_CASE("who starts goes on from the last batch that it knows") {
  ClockBound bound(credit_max);
  bound.start(seconds(5), batch_at(seconds(70)));
  CHECK(bound.allows(seconds(5), batch_at(seconds(70))));
  CHECK_FALSE(bound.allows(seconds(5), batch_at(seconds(71))));
}

TEST_CASE("a leader that is always as fast as it may be gains the credit once, and a tenth") {
  ClockBound bound(credit_max);
  Time batches{};
  for (Time now{}; now < seconds(100); now += milliseconds(1)) {
    while (bound.allows(now, batch_at(batches + milliseconds(1)))) {
      batches += milliseconds(1);
      bound.decided(now, batch_at(batches));
    }
  }
  CHECK(batches > seconds(109));
  CHECK(batches <= seconds(110) + credit_max);
}

TEST_CASE("time that stood still is not made up for at once") {
  ClockBound bound(credit_max);
  bound.decided(seconds(0), batch_at(seconds(1)));
  bound.decided(seconds(50), batch_at(seconds(1)));

  CHECK_FALSE(bound.allows(seconds(50), batch_at(seconds(1) + 2 * credit_max + milliseconds(1))));
}

TEST_CASE("what is too early may be ordered when its time has come") {
  ClockBound bound(credit_max);
  const Time when = bound.allowed_at(seconds(1), batch_at(seconds(30)));
  CHECK(when > seconds(1));
  CHECK(when <= seconds(30));
  CHECK(bound.allows(when, batch_at(seconds(30))));
  CHECK(bound.allowed_at(seconds(1), ~std::uint64_t{0}) == Time::max());
}

TEST_CASE("a time that no clock ever shows does no harm") {
  ClockBound bound(credit_max);
  const std::uint64_t end_of_time = ~std::uint64_t{0};
  CHECK_FALSE(bound.allows(seconds(1), end_of_time));
  bound.decided(seconds(1), end_of_time);
  CHECK(bound.allows(seconds(2), end_of_time));
}

}  // namespace piracema::smr
