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
  const auto first = watch.look(seconds(1), {{.to = 2, .tcp = {.round_trip_us = 20'000}}}, {});
  CHECK(first.epoch == 3);
  REQUIRE(first.links.size() == 1);
  CHECK(first.links[0].to == 2);
  CHECK(first.links[0].round_trip_us == 20'000);
  CHECK(watch.look(seconds(2), {{.to = 2, .tcp = {.round_trip_us = 21'000}}}, {}).links.empty());
  const auto slow = watch.look(seconds(3), {{.to = 2, .tcp = {.round_trip_us = 40'000}}}, {});
  REQUIRE(slow.links.size() == 1);
  CHECK(slow.links[0].round_trip_us == 40'000);
  // Another coordinator has yet to hear of it.
  watch.begin(3, seconds(1));
  CHECK(watch.look(seconds(4), {{.to = 2, .tcp = {.round_trip_us = 40'000}}}, {}).links.size() ==
        1);
}

TEST_CASE("how fast a link is at least, is told when it has carried enough") {
  LinkWatch watch;
  watch.begin(1, seconds(1));
  net::LinkState link{.to = 2,
                      .tcp = {.round_trip_us = 50, .bytes_per_second = 9 * mib, .at_least = true}};
  link.tcp.acknowledged = 1'000;
  CHECK(watch.look(seconds(1), {link}, {}).links[0].bytes_per_second == 0);
  CHECK(watch.look(seconds(2), {link}, {}).links.empty());
  link.tcp.acknowledged += mib;
  link.tcp.busy_us += 250'000;
  const auto seen = watch.look(seconds(4), {link}, {.packets = 2, .bytes = mib});
  REQUIRE(seen.links.size() == 1);
  // What the kernel says may be long ago.
  CHECK(seen.links[0].bytes_per_second == doctest::Approx(4 * mib).epsilon(0.01));
  CHECK(seen.links[0].at_least);
  CHECK(seen.bytes_per_second == mib / 2);
  CHECK(seen.broadcast_bytes == mib / 2);
}

TEST_CASE("what the kernel has measured while there was always more to send, is how fast it is") {
  LinkWatch watch;
  watch.begin(1, seconds(1));
  net::LinkState link{.to = 2, .tcp = {.round_trip_us = 50, .bytes_per_second = 9 * mib}};
  watch.look(seconds(1), {link}, {});
  link.tcp.acknowledged = mib;
  link.tcp.busy_us = 250'000;
  const auto seen = watch.look(seconds(2), {link}, {});
  REQUIRE(seen.links.size() == 1);
  CHECK(seen.links[0].bytes_per_second == 9 * mib);
  CHECK_FALSE(seen.links[0].at_least);
}

TEST_CASE(
    "a link is as fast as what it carried when it was busy all the time and there was a queue") {
  LinkWatch watch;
  watch.begin(1, seconds(1));
  net::LinkState link{.to = 2,
                      .tcp = {.round_trip_us = 50, .bytes_per_second = 9 * mib, .at_least = true}};
  watch.look(seconds(1), {link}, {});
  link.tcp.acknowledged = 100'000;
  link.tcp.busy_us = 900'000;
  link.tcp.round_trip_now_us = 1'000;
  const auto seen = watch.look(seconds(2), {link}, {});
  REQUIRE(seen.links.size() == 1);
  CHECK(seen.links[0].bytes_per_second == 111'111);
  CHECK_FALSE(seen.links[0].at_least);
  // Without a queue nobody knows, and so little says nothing.
  link.tcp.acknowledged += 100'000;
  link.tcp.busy_us += 900'000;
  link.tcp.round_trip_now_us = 60;
  CHECK(watch.look(seconds(3), {link}, {}).links.empty());
}

TEST_CASE("what a link carries is added up until it is enough to tell") {
  LinkWatch watch;
  watch.begin(1, seconds(1));
  net::LinkState link{.to = 2, .tcp = {.round_trip_us = 50, .at_least = true}};
  for (int i = 1; i <= 3; ++i) {
    CHECK(watch.look(seconds(i), {link}, {}).links.size() == (i == 1 ? 1 : 0));
    link.tcp.acknowledged += 100'000;
    link.tcp.busy_us += 50'000;
  }
  const auto seen = watch.look(seconds(4), {link}, {});
  REQUIRE(seen.links.size() == 1);
  CHECK(seen.links[0].bytes_per_second == 2'000'000);
}

TEST_CASE("a connection that was made anew counts from nothing") {
  LinkWatch watch;
  watch.begin(1, seconds(1));
  watch.look(seconds(1), {{.to = 2, .tcp = {.acknowledged = 100 * mib, .busy_us = 9'000'000}}}, {});
  const auto seen = watch.look(
      seconds(2), {{.to = 2, .tcp = {.at_least = true, .acknowledged = mib, .busy_us = 1'000'000}}},
      {});
  REQUIRE(seen.links.size() == 1);
  CHECK(seen.links[0].bytes_per_second == mib);
  CHECK(seen.bytes_per_second == mib);
}
