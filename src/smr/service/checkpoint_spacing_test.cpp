#include "smr/service/checkpoint_spacing.h"

#include <doctest/doctest.h>

#include <vector>

using piracema::smr::CheckpointSpacing;

TEST_CASE("a small state is taken at each place, a large one once a quarter of it was ordered") {
  CheckpointSpacing spacing;
  CHECK(spacing.take(10, 0));
  CHECK(spacing.take(10, 40));
  CHECK_FALSE(spacing.take(10, 100));
  CHECK_FALSE(spacing.take(10, 100));
  CHECK(spacing.take(10, 100));
  CHECK_FALSE(spacing.take(10, 100));
}

TEST_CASE("the largest one is taken at one of so many places") {
  CheckpointSpacing spacing;
  std::vector<int> taken;
  for (int place = 1; place <= 20; ++place) {
    if (spacing.take(0, 1'000)) taken.push_back(place);
  }
  CHECK(taken == std::vector<int>{8, 16});
}

TEST_CASE("whoever becomes a checkpoint goes on as those who took it") {
  CheckpointSpacing old, came;
  CHECK_FALSE(came.take(10, 200));
  for (int i = 0; i < 5; ++i) CHECK(old.take(10, 200) == (i == 4));
  came.restart();
  for (int i = 0; i < 12; ++i) CHECK(came.take(10, 200) == old.take(10, 200));
}
