#include "topology/message/courier.h"

#include <doctest/doctest.h>

#include "base/random.h"

using namespace piracema;
using namespace piracema::coll;
using std::chrono::milliseconds;

namespace {
Time round_trip(Rank) { return milliseconds(20); }
}  // namespace

TEST_CASE("a letter is sent again until it has an answer, ever less often") {
  Courier here, there;
  here.send(1, "one");
  Time time = milliseconds(5);
  REQUIRE(here.due(time, round_trip).size() == 1);
  CHECK(here.due(time, round_trip).empty());
  // Lost, and lost again.
  CHECK(here.next() == time + Courier::patience_least);
  time = here.next();
  REQUIRE(here.due(time, round_trip).size() == 1);
  CHECK(here.next() == time + 2 * Courier::patience_least);
  time = here.next();
  const auto packets = here.due(time, round_trip);
  REQUIRE(packets.size() == 1);
  CHECK(there.on_packet(0, packets[0].bytes) == std::vector<std::string>{"one"});
  CHECK(there.on_packet(0, packets[0].bytes).empty());
  const auto answers = there.due(time, round_trip);
  REQUIRE(answers.size() == 1);
  CHECK(here.on_packet(1, answers[0].bytes).empty());
  CHECK(here.next() == Time::max());
  CHECK(here.letters() == 1);
  CHECK(here.again() == 2);
}

TEST_CASE("a courier takes any bytes") {
  Random random(5);
  Courier courier;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random.below(40), ' ');
    for (char& byte : bytes) byte = static_cast<char>(random.below(3));
    (void)courier.on_packet(0, bytes);
  }
}
