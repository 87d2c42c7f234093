#include "cluster/driver/ending.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::cluster;

TEST_CASE("a job ends as it was said first") {
  Ending ending;
  CHECK_FALSE(ending.is_known());
  ending.say(75, "stopped");
  ending.say(Error{Errc::lost, "no worker is left"});
  REQUIRE(ending.is_known());
  CHECK(ending.finish().code == 75);
  CHECK(ending.finish().why == "stopped");
}

TEST_CASE("an error ends a job with the code that it has in every command") {
  const auto code_of = [](Errc code) {
    Ending ending;
    ending.say(Error{code, "why"});
    return ending.finish().code;
  };
  CHECK(code_of(Errc::failed) == 1);
  CHECK(code_of(Errc::usage) == 2);
  CHECK(code_of(Errc::config) == 3);
  CHECK(code_of(Errc::io) == 3);
  CHECK(code_of(Errc::lost) == 4);
}
