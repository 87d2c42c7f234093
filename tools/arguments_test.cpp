#include "tools/arguments.h"

#include <doctest/doctest.h>

using namespace piracema::tools;

TEST_CASE("a count has bounds") {
  CHECK(*parse_count("1", 10) == 1);
  CHECK(*parse_count("10", 10) == 10);
  for (const char* wrong : {"", "0", "11", "-1", "+1", "1.5", "x", "1x", " 1", "99999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_count(wrong, 10).ok());
  }
  CHECK(parse_count("0", 10).error().message == "want a number from 1 to 10, found '0'");
}
