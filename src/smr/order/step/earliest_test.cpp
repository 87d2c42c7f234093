#include "smr/order/step/earliest.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("the earliest of the deadlines that are set") {
  Earliest next;
  CHECK_FALSE(next.time());
  next.by(std::optional<Time>());
  CHECK_FALSE(next.time());
  next.by(Time(7));
  next.by(std::optional(Time(5)));
  next.by(Time(9));
  CHECK(next.time() == Time(5));
}
