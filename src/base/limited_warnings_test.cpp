#include "base/limited_warnings.h"

#include <doctest/doctest.h>

using namespace piracema;

TEST_CASE("of many warnings the first ones are written, then one in a while that has their number") {
  LimitedWarnings warnings;
  const Time start = std::chrono::hours(5);
  std::size_t written = 0;
  for (int i = 0; i < 10'000; ++i) {
    written += warnings.add(start + std::chrono::microseconds(i), "no").has_value();
  }
  CHECK(written == LimitedWarnings::at_once);
  CHECK(warnings.has_counted());
  CHECK(warnings.late(start + LimitedWarnings::each / 2) == std::nullopt);
  CHECK(warnings.add(start + LimitedWarnings::each, "neither") ==
        "neither (and 9980 more before it)");
  CHECK_FALSE(warnings.has_counted());
}

TEST_CASE("what was counted is told although nothing more comes, when its time is there or at last") {
  LimitedWarnings warnings;
  for (std::uint32_t i = 0; i < LimitedWarnings::at_once; ++i) CHECK(warnings.add(Time{1}, "no"));
  CHECK_FALSE(warnings.add(Time{2}, "one"));
  CHECK_FALSE(warnings.add(Time{3}, "two"));
  CHECK(warnings.late(LimitedWarnings::each + Time{1}) == "two (and 1 more before it)");
  CHECK(warnings.late(2 * LimitedWarnings::each + Time{1}) == std::nullopt);

  CHECK(warnings.add(2 * LimitedWarnings::each + Time{1}, "three") == "three");
  CHECK_FALSE(warnings.add(2 * LimitedWarnings::each + Time{2}, "four"));
  CHECK(warnings.rest() == "four");
  CHECK(warnings.rest() == std::nullopt);
}

TEST_CASE("warnings that come seldom are all written") {
  LimitedWarnings warnings;
  for (int i = 0; i < 1'000; ++i) CHECK(warnings.add(i * LimitedWarnings::each, "no") == "no");
}
