#include "tools/run/kill_order.h"

#include <doctest/doctest.h>

using namespace piracema::tools;

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
