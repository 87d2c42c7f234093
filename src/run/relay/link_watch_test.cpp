#include "run/relay/link_watch.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::runtime;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t mib = 1 << 20;

}  // namespace

TEST_CASE("nothing is told before somebody wants to know") {
  LinkWatch watch;
  CHECK_FALSE(watch.is_due(seconds(5)));
  watch.begin(1, seconds(1));
  CHECK(watch.is_due(seconds(5)));
  watch.look(seconds(5), {}, {});
  CHECK_FALSE(watch.is_due(seconds(5)));
  CHECK(watch.is_due(seconds(6)));
  watch.begin(2, Time{});
  CHECK_FALSE(watch.is_due(seconds(9)));
}

TEST_CASE("a link is told of when its round trip is another one") {
  LinkWatch watch;
  watch.begin(3, seconds(1));
  const auto first = watch.look(seconds(1), {{.to = 2, .round_trip_us = 20'000}}, {});
  CHECK(first.epoch == 3);
  REQUIRE(first.links.size() == 1);
  CHECK(first.links[0].to == 2);
  CHECK(first.links[0].round_trip_us == 20'000);
  CHECK(watch.look(seconds(2), {{.to = 2, .round_trip_us = 21'000}}, {}).links.empty());
  const auto slow = watch.look(seconds(3), {{.to = 2, .round_trip_us = 40'000}}, {});
  REQUIRE(slow.links.size() == 1);
  CHECK(slow.links[0].round_trip_us == 40'000);
  // Another coordinator has yet to hear of it.
  watch.begin(3, seconds(1));
  CHECK(watch.look(seconds(4), {{.to = 2, .round_trip_us = 40'000}}, {}).links.size() == 1);
}

TEST_CASE("how fast a link is, is told when it has carried enough") {
  LinkWatch watch;
  watch.begin(1, seconds(1));
  net::LinkState link{.to = 2, .round_trip_us = 50, .bytes_per_second = 1'000'000, .at_least = true};
  link.acknowledged = 1'000;
  CHECK(watch.look(seconds(1), {link}, {}).links[0].bytes_per_second == 0);
  CHECK(watch.look(seconds(2), {link}, {}).links.empty());
  link.acknowledged += mib;
  const auto seen = watch.look(seconds(4), {link}, {.packets = 2, .bytes = mib});
  REQUIRE(seen.links.size() == 1);
  CHECK(seen.links[0].bytes_per_second == 1'000'000);
  CHECK(seen.links[0].at_least);
  CHECK(seen.bytes_per_second == mib / 2);
  CHECK(seen.broadcast_bytes == mib / 2);
}

TEST_CASE("a connection that was made anew counts from nothing") {
  LinkWatch watch;
  watch.begin(1, seconds(1));
  watch.look(seconds(1), {{.to = 2, .bytes_per_second = 7, .acknowledged = 100 * mib}}, {});
  const auto seen =
      watch.look(seconds(2), {{.to = 2, .bytes_per_second = 7, .acknowledged = mib}}, {});
  REQUIRE(seen.links.size() == 1);
  CHECK(seen.bytes_per_second == mib);
}
