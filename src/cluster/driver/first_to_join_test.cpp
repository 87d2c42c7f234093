#include "cluster/driver/first_to_join.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::seconds;

TEST_CASE("the first process has so long to join, and others that start later wait for it") {
  FirstToJoin first;
  first.wait_until(Time(seconds(10)));
  first.hold({1, 0});
  first.hold({2, 0});
  CHECK_FALSE(first.is_late(seconds(9)));
  CHECK(first.is_late(seconds(10)));
  CHECK(first.drop({1, 0}));
  CHECK_FALSE(first.drop({1, 0}));
  CHECK(first.join());
  CHECK_FALSE(first.join());
  CHECK_FALSE(first.is_late(seconds(10)));
  CHECK(first.take() == std::vector<Crew::Id>{{2, 0}});
  CHECK(first.take().empty());
}
