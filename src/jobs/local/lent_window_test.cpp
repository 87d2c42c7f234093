#include "jobs/local/lent_window.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::jobs;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Phase = LentWindow::Phase;

TEST_CASE("a machine that is there for good is open, and never looked at again") {
  LentWindow window;
  CHECK(window.is_open(seconds(1'000'000)));
  CHECK_FALSE(window.turns(seconds(1)));
  CHECK_FALSE(window.next(true).has_value());
  CHECK_FALSE(window.is_over(seconds(1'000'000)));
  CHECK(window.told(seconds(1), true).closes_in_ms == 0);
  CHECK(window.at_most(seconds(5)) == seconds(5));
}

TEST_CASE("a window closes as long before its end as leaving takes, and is over before it") {
  LentWindow window;
  window.see({true, Time(seconds(100)), ""});
  window.learn({seconds(7), milliseconds(500)});
  CHECK(window.told(seconds(90), true).closes_in_ms == 10'000);
  CHECK(window.next(false) == seconds(93));
  CHECK(window.is_open(milliseconds(92'999)));
  CHECK_FALSE(window.turns(seconds(92)));
  CHECK(window.turns(seconds(93)));
  CHECK(window.phase_then() == Phase::closed);
  CHECK(window.told(seconds(94), true).why == "as its window closes");
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
  CHECK(window.told(seconds(2), true).why == "its user is there");
  CHECK(window.why_jobs_leave(seconds(2)) == "not lent any more, its user is there: jobs leave");
  // The same end, told by a clock that was set.
  window.see({true, Time(seconds(14)), ""});
  CHECK_FALSE(window.turns(seconds(3)));
  window.see({true, Time(seconds(60)), ""});
  CHECK(window.turns(seconds(20)));
  CHECK(window.phase_then() == Phase::open);
}

namespace {

/// A user has come after a second; jobs take 3 s to leave, and have to be gone after 60.
LentWindow with_user(Time suspended_until) {
  LentWindow window;
  window.learn({seconds(3), milliseconds(500)});
  window.turns(seconds(1));
  window.see({false, Time(seconds(61)), "its user is there", suspended_until});
  CHECK(window.turns(seconds(1)));
  return window;
}

}  // namespace

TEST_CASE("jobs stand still while a user is there, and leave if he stays") {
  LentWindow window = with_user(seconds(41));
  CHECK(window.phase_then() == Phase::suspended);
  CHECK_FALSE(window.is_open(seconds(1)));
  CHECK(window.next(true) == seconds(41));
  CHECK(window.why_jobs_stand_still(seconds(1)) ==
        "not lent any more, its user is there: jobs stand still, and leave in 40000 ms unless they "
        "may go on before");
  const Lent told = window.told(seconds(11), true);
  CHECK_FALSE(told.open);
  CHECK(told.kept == Kept::stands_still);
  CHECK(told.closes_in_ms == 30'000);
  // Where nothing stands still nothing is said of it.
  CHECK(window.told(seconds(11), false).kept == Kept::nothing);
  CHECK(window.told(seconds(11), false).closes_in_ms == 0);
  CHECK_FALSE(window.turns(milliseconds(40'999)));
  CHECK(window.turns(seconds(41)));
  CHECK(window.phase_then() == Phase::closed);
  CHECK(window.told(seconds(41), true).kept == Kept::nothing);
  CHECK(window.next(true) == milliseconds(60'500));
  CHECK_FALSE(window.is_over(milliseconds(60'499)));
  CHECK(window.is_over(milliseconds(60'500)));
}

TEST_CASE("jobs that stand still leave as early as leaving takes") {
  LentWindow window = with_user(seconds(61));
  CHECK(window.next(true) == seconds(58));
  CHECK_FALSE(window.turns(milliseconds(57'999)));
  CHECK(window.turns(seconds(58)));
  CHECK(window.phase_then() == Phase::closed);
}

TEST_CASE("jobs go on when the user goes in time, and none begin before the machine is lent") {
  LentWindow window = with_user(seconds(41));
  window.see({false, std::nullopt, "as it is not idle before then", std::nullopt, true});
  CHECK(window.turns(seconds(20)));
  CHECK(window.phase_then() == Phase::kept);
  CHECK(window.told(seconds(20), true).kept == Kept::goes_on);
  CHECK_FALSE(window.next(true).has_value());
  // He is back.
  window.see({false, Time(seconds(110)), "its user is there", Time(seconds(90))});
  CHECK(window.turns(seconds(50)));
  CHECK(window.phase_then() == Phase::suspended);
  window.see({false, std::nullopt, "as it is not idle before then", std::nullopt, true});
  CHECK(window.turns(seconds(60)));
  window.see({true, std::nullopt, ""});
  CHECK(window.turns(seconds(600)));
  CHECK(window.phase_then() == Phase::open);
}

TEST_CASE("jobs that go on leave when their window closes") {
  LentWindow window = with_user(seconds(41));
  window.see({false, Time(seconds(80)), "as it is not idle before then", std::nullopt, true});
  CHECK(window.turns(seconds(20)));
  CHECK(window.next(true) == seconds(77));
  CHECK(window.turns(seconds(77)));
  CHECK(window.phase_then() == Phase::closed);
}

TEST_CASE("what was asked to leave does not stay as its user goes a moment later") {
  LentWindow window = with_user(seconds(61));
  CHECK(window.turns(seconds(58)));
  window.see({false, std::nullopt, "as it is not idle before then", std::nullopt, true});
  CHECK_FALSE(window.turns(seconds(59)));
  CHECK(window.phase_then() == Phase::closed);
}

TEST_CASE("where nothing may stand still a user who comes closes it at once") {
  LentWindow window;
  window.turns(seconds(1));
  window.see({false, Time(seconds(11)), "its user is there"});
  CHECK(window.turns(seconds(1)));
  CHECK(window.phase_then() == Phase::closed);
}
