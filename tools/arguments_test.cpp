#include "tools/arguments.h"

#include <doctest/doctest.h>

using namespace piracema::tools;
using std::chrono::milliseconds;

TEST_CASE("a count has bounds") {
  CHECK(*parse_count("1", 10) == 1);
  CHECK(*parse_count("10", 10) == 10);
  for (const char* wrong : {"", "0", "11", "-1", "+1", "1.5", "x", "1x", " 1", "99999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_count(wrong, 10).ok());
  }
  CHECK(parse_count("0", 10).error().message == "want a number from 1 to 10, found '0'");
}

TEST_CASE("a time has a unit") {
  CHECK(*parse_duration("250ms") == milliseconds(250));
  CHECK(*parse_duration("1s") == milliseconds(1'000));
  CHECK(*parse_duration("1.5s") == milliseconds(1'500));
  CHECK(*parse_duration("2m") == milliseconds(120'000));
  CHECK(*parse_duration("1h") == milliseconds(3'600'000));

  for (const char* wrong : {"", "1", "s", "0s", "-1s", "1x", "1 s", "nans", "1e9h", "9999999h"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong).ok());
  }
  CHECK(parse_duration("soon").error().message.find("found 'soon'") != std::string::npos);
}

TEST_CASE("a kill names a replica and when") {
  const auto order = parse_kill("compress.2@40");
  REQUIRE(order.ok());
  CHECK(order->node == "compress");
  CHECK(order->replica == 2);
  CHECK(order->at == doctest::Approx(0.4));
  CHECK(kill_text(*order) == "compress.2@40");

  CHECK(parse_kill("writer@0")->replica == 0);
  CHECK(parse_kill("a-b_c/1@99.5%")->at == doctest::Approx(0.995));

  for (const char* wrong : {"", "@", "a", "a@", "@40", ".1@40", "a.@40", "a.x@40", "a.-1@40",
                            "a@101", "a@-1", "a@nan", "a@4 0"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_kill(wrong).ok());
  }
}
