#include "smr/replica/request_flood.h"

#include <doctest/doctest.h>

namespace piracema::smr {

namespace {

constexpr std::size_t much = RequestFlood::least_bytes;

}  // namespace

TEST_CASE("a flood of requests is over once, when an eighth of its height is left") {
  RequestFlood flood;
  CHECK_FALSE(flood.is_over(much));
  CHECK_FALSE(flood.is_over(2 * much));
  CHECK_FALSE(flood.is_over(much));
  CHECK_FALSE(flood.is_over(2 * much / 8 + 1));
  CHECK(flood.is_over(2 * much / 8));
  CHECK_FALSE(flood.is_over(0));
}

TEST_CASE("requests that take little are no flood, and another one is seen as the first was") {
  RequestFlood flood;
  CHECK_FALSE(flood.is_over(much - 1));
  CHECK_FALSE(flood.is_over(0));
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(flood.is_over(much));
    CHECK(flood.is_over(0));
  }
}

}  // namespace piracema::smr
