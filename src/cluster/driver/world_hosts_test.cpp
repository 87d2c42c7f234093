#include "cluster/driver/world_hosts.h"

#include <doctest/doctest.h>

namespace piracema::cluster {

using HostNumbers = std::vector<std::size_t>;

TEST_CASE("ranks stay where they were meant to be while their hosts are reached") {
  CHECK(place_ranks({0, 1, 0, 1}, {true, true, true}) == HostNumbers{0, 1, 0, 1});
}

TEST_CASE("the ranks of a lost host go to those that have the fewest") {
  CHECK(place_ranks({0, 1, 0, 1}, {true, false}) == HostNumbers{0, 0, 0, 0});
  CHECK(place_ranks({0, 1, 2, 1}, {true, false, true}) == HostNumbers{0, 0, 2, 2});
  CHECK(place_ranks({0, 1, 0, 1}, {true, false, true}) == HostNumbers{0, 2, 0, 2});
}

TEST_CASE("without any host there is no place") {
  CHECK_FALSE(place_ranks({0, 1}, {false, false}));
}

}  // namespace piracema::cluster
