#include "council/majority_watch.h"

#include <doctest/doctest.h>

using namespace piracema;
using piracema::council::MajorityWatch;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a majority is asked once a second, and open since it was asked first") {
  MajorityWatch watch;
  watch.was_busy(seconds(10));
  CHECK_FALSE(watch.is_open());
  CHECK(watch.open_for(seconds(10)) == Time{});
  CHECK(watch.asks(seconds(10)));
  CHECK_FALSE(watch.asks(milliseconds(10'999)));
  CHECK(watch.asks(seconds(11)));
  CHECK(watch.is_open());
  CHECK(watch.open_for(seconds(12)) == seconds(2));
  watch.answered();
  CHECK_FALSE(watch.is_open());
  // The next one is asked when it is due.
  CHECK_FALSE(watch.asks(milliseconds(11'500)));
  CHECK(watch.asks(seconds(12)));
  CHECK(watch.open_for(seconds(12)) == Time{});
}

TEST_CASE("while this process was stopped nobody had his say") {
  MajorityWatch watch;
  watch.was_busy(seconds(10));
  REQUIRE(watch.asks(seconds(10)));
  watch.look(milliseconds(10'250));
  watch.look(milliseconds(20'250));
  CHECK(watch.open_for(milliseconds(20'250)) == milliseconds(250));
  // It was late, but not stopped.
  watch.look(milliseconds(21'250));
  CHECK(watch.open_for(milliseconds(21'250)) == milliseconds(1'250));
}

TEST_CASE("what this process was busy with is no pause of it") {
  MajorityWatch watch;
  watch.was_busy(seconds(10));
  REQUIRE(watch.asks(seconds(10)));
  watch.was_busy(seconds(20));
  watch.look(milliseconds(20'250));
  CHECK(watch.open_for(milliseconds(20'250)) == milliseconds(10'250));
}
