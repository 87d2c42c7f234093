#include "smr/order/agreement/former_life.h"

#include <doctest/doctest.h>

using namespace piracema::smr;

TEST_CASE("who starts for the first time ever may do anything") {
  FormerLife life(false);
  CHECK(life.remembered());
  CHECK(life.may_vote_at(1));
  CHECK(life.may_lead_in(0));
  CHECK_FALSE(life.doubt(0));
}

TEST_CASE("a regency that was entered before is not led again, until another view begins") {
  FormerLife life(false);
  life.was_in(3);
  CHECK_FALSE(life.may_lead_in(3));
  CHECK(life.may_lead_in(4));
  life.begin_view();
  CHECK(life.may_lead_in(0));
}

TEST_CASE("a log that builds on what is lost counts as forgotten") {
  FormerLife whole(false), torn(false);
  whole.builds_on(40);
  torn.builds_on(40);
  torn.builds_on(20);
  CHECK_FALSE(whole.doubt(40));
  CHECK(whole.remembered());
  CHECK(torn.doubt(39) == 40);
  CHECK_FALSE(torn.remembered());
}

TEST_CASE("who has forgotten votes above what it may have voted for, once it knows that") {
  FormerLife life(true);
  CHECK_FALSE(life.remembered());
  life.remember(50);
  CHECK(life.remembered());
  CHECK_FALSE(life.may_vote_at(50));
  CHECK(life.may_vote_at(51));
}
