#include "smr/order/views/newcomers.h"

#include <doctest/doctest.h>

#include "smr/testing.h"

namespace piracema::smr {

using std::chrono::milliseconds;

TEST_CASE("a newcomer is near when it is where the furthest member was half a second ago") {
  Newcomers newcomers(test_view(), {3});
  CHECK(newcomers.waits_for() == "no member says how far the group is");
  newcomers.told(Time{}, 3, {.decided = 5'000});
  CHECK_FALSE(newcomers.are_near());
  newcomers.told(Time{}, 0, {.decided = 4'000});
  CHECK(newcomers.are_near());
  newcomers.told(milliseconds(100), 1, {.decided = 5'001});
  CHECK(newcomers.are_near());
  newcomers.told(milliseconds(501), 1, {.decided = 6'000});
  CHECK_FALSE(newcomers.are_near());
  CHECK(newcomers.waits_for() == "replica 3 is at 5000, the group at 6000");
  newcomers.told(milliseconds(502), 3, {.decided = 5'001});
  CHECK(newcomers.are_near());
  CHECK(newcomers.waits_for().empty());
}

TEST_CASE("one member that lies keeps nobody waiting, and lets nobody in") {
  Newcomers newcomers(test_view(FaultModel::byzantine, 4), {4});
  newcomers.told(Time{}, 4, {.decided = 100});
  newcomers.told(Time{}, 0, {.decided = 1'000'000'000});
  CHECK_FALSE(newcomers.are_near());  // One word is none.
  newcomers.told(Time{}, 1, {.decided = 90});
  CHECK(newcomers.are_near());
  newcomers.told(milliseconds(1), 2, {.decided = 3'000});
  newcomers.told(milliseconds(502), 0, {.decided = 0});
  CHECK_FALSE(newcomers.are_near());
}

TEST_CASE("what is not proven to strangers yet keeps no newcomer out") {
  Newcomers newcomers(test_view(FaultModel::byzantine, 4), {4});
  newcomers.told(Time{}, 4, {.decided = 64});
  for (ReplicaId member = 0; member < 4; ++member) newcomers.told(Time{}, member, {.decided = 96});
  CHECK(newcomers.are_near());
}

TEST_CASE("all that are added are waited for, and what is said of each is what it lacks") {
  Newcomers newcomers(test_view(), {3, 4, 5, 6});
  newcomers.told(Time{}, 0, {.decided = 90'000});
  newcomers.told(Time{}, 3, {.decided = 90'000});
  newcomers.told(Time{}, 4, {.pieces = 12, .of = 400});
  newcomers.told(Time{}, 5, {.silent = true});
  newcomers.lost(6, "connection refused");
  CHECK_FALSE(newcomers.are_near());
  CHECK(newcomers.waits_for() ==
        "replica 4 has 12 of 400 pieces of a checkpoint; replica 5 is silent, as it was not "
        "started with --first-start; replica 6: connection refused");
}

TEST_CASE("each step of a newcomer is told from standing still") {
  Newcomers newcomers(test_view(), {3});
  newcomers.told(Time{}, 0, {.decided = 90'000});
  CHECK(newcomers.steps() == 0);
  newcomers.told(Time{}, 3, {.pieces = 1, .of = 10});
  newcomers.told(Time{}, 3, {.pieces = 1, .of = 10});
  CHECK(newcomers.steps() == 1);
  newcomers.told(Time{}, 3, {.pieces = 2, .of = 10});
  newcomers.told(Time{}, 3, {.decided = 50'000});
  newcomers.told(Time{}, 3, {.decided = 50'000});
  CHECK(newcomers.steps() == 3);
}

TEST_CASE("where nobody is added nobody is waited for") {
  CHECK(Newcomers(test_view(), {}).are_near());
}

}  // namespace piracema::smr
