#include "smr/order/leader/leadership.h"

#include <doctest/doctest.h>

#include "smr/testing.h"

using namespace piracema::smr;

TEST_CASE("the first leader leads at once, a later one when its regency has begun") {
  const FormerLife life(false);
  const Membership first(0, test_view()), second(1, test_view());
  CHECK(Leadership(first, life).leads());
  Leadership leadership(second, life);
  CHECK_FALSE(leadership.leads());
  leadership.enter(1);
  CHECK(leadership.is_leader());
  CHECK_FALSE(leadership.leads());
  leadership.begin();
  CHECK(leadership.leads());
}

TEST_CASE("who has forgotten, or is no member, neither votes nor leads") {
  const FormerLife knows(false), forgot(true);
  const Membership member(0, test_view()), stranger(7, test_view());
  CHECK(Leadership(member, knows).votes());
  CHECK_FALSE(Leadership(member, forgot).votes());
  CHECK_FALSE(Leadership(member, forgot).leads());
  CHECK_FALSE(Leadership(stranger, knows).votes());
}

TEST_CASE("a leader that was in its regency before does not lead it again") {
  FormerLife life(false);
  const Membership members(0, test_view());
  Leadership leadership(members, life);
  life.was_in(3);
  leadership.recover_entered(3);
  CHECK_FALSE(leadership.synced());
  leadership.begin();
  CHECK(leadership.is_leader());
  CHECK_FALSE(leadership.leads());
}

TEST_CASE("what was asked for is remembered by the log, until another view rules") {
  const FormerLife life(false);
  const Membership members(0, test_view());
  Leadership leadership(members, life);
  leadership.recover_stop(2);
  CHECK_FALSE(leadership.content());
  CHECK(leadership.asked_for() == 2);
  leadership.enter(2);
  CHECK(leadership.content());
  CHECK(leadership.asked_for() == 2);
  leadership.begin_view();
  CHECK(leadership.regency() == 0);
  CHECK(leadership.asked_for() == 0);
  CHECK(leadership.synced());
}
