#include "smr/service/trail_keeper.h"

#include <doctest/doctest.h>

namespace piracema::smr {

namespace {

/// So many instances of three requests each; the second of each was not executed.
TrailKeeper keeper_of(Instance count, std::uint32_t imprint = 7) {
  TrailKeeper keeper;
  for (Instance i = 1; i <= count; ++i) {
    keeper.add(3);
    for (const std::uint32_t index : {0u, 2u}) {
      keeper.note({.context = {.instance = i, .index = index}, .imprint = imprint + index});
    }
  }
  return keeper;
}

}  // namespace

TEST_CASE("a trail has a number for each instance, and one for each operation") {
  const TrailKeeper keeper = keeper_of(5);
  const Trail some = keeper.part({2, 4, false});
  CHECK(some.first == 2);
  CHECK(some.digests.size() == 3);
  CHECK(keeper.part({4, 100, false}).digests.size() == 2);
  CHECK(keeper.part({3, 3, true}).digests == std::vector<std::uint64_t>{7, 0, 9});
  CHECK(keeper.part({6, 6, true}).digests.empty());
  CHECK(keeper_of(5, 8).part({2, 4, false}).digests != some.digests);
}

TEST_CASE("all checkpoints that one vote may make stable at once can go, and the trail stays") {
  TrailKeeper keeper = keeper_of(20);
  keeper.stable(2);
  for (Instance i = 1; i <= unstable_checkpoints_max; ++i) keeper.stable(2 + 3 * i);
  CHECK(keeper.part({1, 20, false}).digests.size() == 20);
  keeper.stable(20);
  CHECK(keeper.part({1, 20, false}).first == 3);
  CHECK(keeper.part({1, 20, false}).digests.size() == 18);
  keeper.restart_after(40);
  keeper.add(1);
  keeper.note({.context = {.instance = 41}, .imprint = 3});
  CHECK(keeper.part({1, 100, false}).first == 41);
  CHECK(keeper.part({41, 41, true}).digests == std::vector<std::uint64_t>{3});
}

TEST_CASE("a trail is bounded, however far apart checkpoints are") {
  TrailKeeper keeper;
  const std::size_t each = TrailKeeper::operations_max / 4;
  for (int i = 0; i < 6; ++i) keeper.add(each);
  CHECK(keeper.part({1, 6, false}).first == 3);
  CHECK(keeper.part({1, 6, false}).digests.size() == 4);
  keeper.note({.context = {.instance = 1}, .imprint = 3});  // Forgotten: nothing happens.
}

}  // namespace piracema::smr
