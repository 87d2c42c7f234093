#include "cluster/driver/taken_output.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"

using namespace piracema;
using namespace piracema::cluster;

TEST_CASE("what processes have printed is written on, and counted since their agent has come") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const Fd from(ends[0]), to(ends[1]);
  TakenOutput output;
  output.take("one\n", to.get());
  output.take("two\n", to.get());
  CHECK(output.bytes() == 8);
  char text[16];
  const ssize_t count = ::read(from.get(), text, sizeof text);
  REQUIRE(count == 8);
  CHECK(std::string(text, 8) == "one\ntwo\n");
  output.begin_anew();
  CHECK(output.bytes() == 0);
}

TEST_CASE("what cannot be written counts as taken, so that no agent keeps it for ever") {
  TakenOutput output;
  output.take("one\n", -1);
  CHECK(output.bytes() == 4);
}
