#include "run/barrier/cycle_end.h"

#include <doctest/doctest.h>

using namespace piracema::runtime;

// Input 0 comes from outside, input 1 round the cycle.
TEST_CASE("a head probes its cycle when all else has ended, and is done after a quiet round") {
  CycleEnd head({false, true}, true, 1);
  const auto first = head.on_end(0);
  REQUIRE(first);
  CHECK_FALSE(head.is_empty());
  CHECK_FALSE(head.on_probe(1, *first));
  CHECK(head.is_empty());
}

TEST_CASE("a round in which items came back is followed by another one") {
  CycleEnd head({false, true}, true, 1);
  auto probe = head.on_end(0);
  head.on_items();
  probe = head.on_probe(1, *probe);
  REQUIRE(probe);
  CHECK_FALSE(head.is_empty());
  CHECK_FALSE(head.on_probe(1, *probe));
  CHECK(head.is_empty());
}

TEST_CASE("items that came before the first probe was sent do not count") {
  CycleEnd head({false, true}, true, 1);
  head.on_items();
  const auto probe = head.on_end(0);
  CHECK_FALSE(head.on_probe(1, *probe));
  CHECK(head.is_empty());
}

TEST_CASE("a member passes a probe on when all its inputs of the cycle have brought it") {
  CycleEnd member({true, true}, false, 2);
  CHECK_FALSE(member.on_probe(0, {1, 5}));
  const auto probe = member.on_probe(1, {1, 3});
  REQUIRE(probe);
  CHECK(probe->quiet == 3);
}

TEST_CASE(
    "a member that gets items from outside as well lets no probe pass until those have ended") {
  CycleEnd member({false, true}, false, 1);
  CHECK_FALSE(member.on_probe(1, {1, 0}));
  CHECK(member.on_end(0));
}

TEST_CASE("of two heads none is done before both had the same round quiet") {
  CycleEnd a({false, true}, true, 2);
  auto probe = a.on_end(0);
  probe = a.on_probe(1, {1, 0});
  REQUIRE(probe);
  CHECK(probe->quiet == 1);
  // The other one was not quiet: it says 0, so two rounds are not enough.
  probe = a.on_probe(1, {2, 0});
  REQUIRE(probe);
  CHECK(probe->quiet == 1);
  CHECK_FALSE(a.on_probe(1, {3, 1}));
  CHECK(a.is_empty());
}

TEST_CASE("probes of a head that is ahead wait for their rounds") {
  CycleEnd late({false, true}, true, 3);
  CHECK_FALSE(late.on_probe(1, {1, 0}));
  CHECK_FALSE(late.on_probe(1, {2, 1}));
  auto probe = late.on_end(0);
  REQUIRE(probe);
  CHECK(probe->round == 1);
  probe = late.go_on();
  REQUIRE(probe);
  CHECK(probe->quiet == 1);
  probe = late.go_on();
  REQUIRE(probe);
  CHECK(probe->quiet == 2);
  CHECK_FALSE(late.go_on());
  CHECK_FALSE(late.is_empty());
}

TEST_CASE("a head that hears the end of its cycle from another head needs no round of its own") {
  CycleEnd head({false, true}, true, 2);
  REQUIRE(head.on_end(0));
  CHECK_FALSE(head.on_end(1));
  CHECK(head.is_empty());
}
