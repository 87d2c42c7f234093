#include "jobs/local/lent_window.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::jobs;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a machine that is there for good is open, and never looked at again") {
  LentWindow window;
  CHECK(window.is_open(seconds(1'000'000)));
  CHECK_FALSE(window.turns(seconds(1)));
  CHECK_FALSE(window.next(true).has_value());
  CHECK_FALSE(window.is_over(seconds(1'000'000)));
  CHECK(window.told(seconds(1)).closes_in_ms == 0);
  CHECK(window.at_most(seconds(5)) == seconds(5));
}

TEST_CASE("a window closes as long before its end as leaving takes, and is over before it") {
  LentWindow window;
  window.see({true, Time(seconds(100)), ""});
  window.learn({seconds(7), milliseconds(500)});
  CHECK(window.told(seconds(90)).closes_in_ms == 10'000);
  CHECK(window.next(false) == seconds(93));
  CHECK(window.is_open(milliseconds(92'999)));
  CHECK_FALSE(window.turns(seconds(92)));
  CHECK(window.turns(seconds(93)));
  CHECK(window.is_closed());
  CHECK(window.told(seconds(94)).why == "as its window closes");
  CHECK(window.why_jobs_leave(seconds(93)) ==
        "the window closes in 7000 ms: jobs leave before it does");
  // They have gone sooner, and it stays closed.
  window.learn({seconds(1), milliseconds(10)});
  CHECK_FALSE(window.turns(seconds(94)));
  CHECK_FALSE(window.next(false).has_value());
  window.learn({seconds(1), milliseconds(500)});
  CHECK(window.next(true) == milliseconds(99'500));
  CHECK(window.at_most(seconds(101)) == milliseconds(99'500));
  CHECK_FALSE(window.is_over(milliseconds(99'499)));
  CHECK(window.is_over(milliseconds(99'500)));
}

TEST_CASE("leaving takes a second at least, whatever was learnt") {
  LentWindow window;
  window.see({true, Time(seconds(100)), ""});
  window.learn({milliseconds(3), milliseconds(1)});
  CHECK(window.next(false) == seconds(99));
}

TEST_CASE("a user who comes closes it at once, and a later window opens it again") {
  LentWindow window;
  CHECK_FALSE(window.turns(seconds(1)));
  window.see({false, Time(seconds(10)), "its user is there"});
  CHECK(window.turns(seconds(2)));
  CHECK(window.told(seconds(2)).why == "its user is there");
  CHECK(window.why_jobs_leave(seconds(2)) == "not lent any more, its user is there: jobs leave");
  // The same end, told by a clock that was set.
  window.see({true, Time(seconds(14)), ""});
  CHECK_FALSE(window.turns(seconds(3)));
  window.see({true, Time(seconds(60)), ""});
  CHECK(window.turns(seconds(20)));
  CHECK_FALSE(window.is_closed());
}
