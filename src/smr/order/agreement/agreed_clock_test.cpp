#include "smr/order/agreement/agreed_clock.h"

#include <doctest/doctest.h>

#include <chrono>

using namespace piracema;
using namespace piracema::smr;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Time credit = milliseconds(500);

std::uint64_t at(Time time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

TEST_CASE("a follower continues the time of the last batch, whatever its own clock made of it") {
  AgreedClock clock(FaultModel::crash, credit);
  clock.start(seconds(1));
  clock.decided(seconds(10), at(seconds(100)), false);
  CHECK(clock.time(seconds(12)) == at(seconds(102)));
  clock.decided(seconds(20), at(seconds(105)), false);
  CHECK(clock.time(seconds(20)) == at(seconds(105)));
}

TEST_CASE("the leader's time goes on, and never back") {
  AgreedClock clock(FaultModel::crash, credit);
  clock.start(seconds(0));
  clock.decided(seconds(5), at(seconds(3)), true);
  CHECK(clock.time(seconds(5)) == at(seconds(5)));
  clock.advance(seconds(5), at(seconds(9)));
  CHECK(clock.time(seconds(6)) == at(seconds(10)));
  clock.advance(seconds(6), at(seconds(2)));
  CHECK(clock.time(seconds(6)) == at(seconds(10)));
}

TEST_CASE("time begins with the first batch") {
  AgreedClock clock(FaultModel::crash, credit);
  clock.start(seconds(0));
  clock.propose_first(seconds(50));
  CHECK(clock.time(seconds(51)) == at(seconds(1)));
  // Not with one that follows on another's.
  clock.decided(seconds(60), at(seconds(7)), false);
  clock.propose_first(seconds(70));
  CHECK(clock.time(seconds(70)) == at(seconds(17)));
}

TEST_CASE("liars: a leader goes no further ahead of the last batch than others believe") {
  AgreedClock lies(FaultModel::byzantine, credit), crashes(FaultModel::crash, credit);
  for (AgreedClock* clock : {&lies, &crashes}) {
    clock->start(seconds(0));
    clock->recovered(seconds(0));
    clock->advance(seconds(1), at(seconds(500)));
    clock->decided(seconds(1), at(seconds(2)), true);
  }
  CHECK(crashes.time(seconds(1)) == at(seconds(500)));
  CHECK(lies.time(seconds(1)) < at(seconds(3)));
}

TEST_CASE("when a time is there, before or after now") {
  AgreedClock clock(FaultModel::crash, credit);
  clock.jump_to(seconds(10), at(seconds(100)));
  CHECK(clock.when(seconds(10), at(seconds(103))) == seconds(13));
  CHECK(clock.when(seconds(10), at(seconds(99))) == seconds(9));
  CHECK(clock.when(seconds(10), ~std::uint64_t{0}) > seconds(1'000'000));
}
