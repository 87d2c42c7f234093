#include "control/broadcasts/host_links.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t megabyte = 1'000'000;

runtime::LinkSeen speed(std::uint64_t bytes_per_second, bool at_least = false) {
  return {.bytes_per_second = bytes_per_second, .at_least = at_least};
}
/// Often enough that it counts.
void see(HostLinks& links, const std::string& from, const std::string& to, std::uint64_t speed,
         Time now) {
  for (int i = 0; i < 3; ++i) links.seen(from, to, {.bytes_per_second = speed}, now);
}
double speed_of(const HostLinks& links, const std::string& from, const std::string& to) {
  return 1 / links.table({from, to}).at(0, 1).per_byte;
}

}  // namespace

TEST_CASE("a link is as fast as it was seen to be, and the way back until that is seen too") {
  HostLinks links;
  links.seen("a", "b", {.round_trip_us = 20'000}, seconds(1));
  see(links, "a", "b", 5 * megabyte, seconds(1));
  const auto table = links.table({"b", "a"});
  CHECK(table.at(1, 0).latency == doctest::Approx(0.01));
  CHECK(table.at(0, 1).latency == doctest::Approx(0.01));
  CHECK(1 / table.at(1, 0).per_byte == doctest::Approx(5e6));
  CHECK(1 / table.at(0, 1).per_byte == doctest::Approx(5e6));
  see(links, "b", "a", 2 * megabyte, seconds(1));
  CHECK(speed_of(links, "b", "a") == doctest::Approx(2e6));
  CHECK(speed_of(links, "a", "b") == doctest::Approx(5e6));
}

TEST_CASE("a link that is ten times slower is believed the third time it is seen so") {
  HostLinks links;
  for (int i = 0; i < 30; ++i) links.seen("a", "b", speed(50 * megabyte), seconds(i));
  const auto version = links.version(seconds(30));
  links.seen("a", "b", speed(5 * megabyte), seconds(31));
  CHECK(speed_of(links, "a", "b") == doctest::Approx(50e6));
  links.seen("a", "b", speed(5 * megabyte), seconds(32));
  links.seen("a", "b", speed(5 * megabyte), seconds(33));
  CHECK(speed_of(links, "a", "b") == doctest::Approx(5e6));
  CHECK(links.version(seconds(33)) != version);
}

TEST_CASE("a link whose connections begin is not thought to be slow") {
  HostLinks links;
  see(links, "a", "b", 50 * megabyte, seconds(0));
  links.seen("a", "c", speed(1 * megabyte), seconds(1));
  links.seen("a", "c", speed(8 * megabyte), seconds(2));
  CHECK(1 / links.table({"a", "b", "c"}).at(0, 2).per_byte == doctest::Approx(50e6));
  links.seen("a", "c", speed(9 * megabyte), seconds(3));
  CHECK(1 / links.table({"a", "b", "c"}).at(0, 2).per_byte == doctest::Approx(9e6));
}

TEST_CASE("a speed that trembles changes nothing") {
  HostLinks links;
  see(links, "a", "b", 50 * megabyte, seconds(0));
  const auto version = links.version(seconds(0));
  for (int i = 1; i < 50; ++i)
    links.seen("a", "b", speed((i % 2 ? 48 : 52) * megabyte), seconds(i));
  CHECK(links.version(seconds(50)) == version);
}

TEST_CASE("what a link has carried for want of more is no less than it can") {
  HostLinks links;
  see(links, "a", "b", 50 * megabyte, seconds(1));
  links.seen("a", "c", speed(1 * megabyte, true), seconds(1));
  // Nothing slow is known, so the other is guessed to be like the one that is.
  CHECK(speed_of(links, "a", "b") == doctest::Approx(50e6));
  CHECK(1 / links.table({"a", "b", "c"}).at(0, 2).per_byte == doctest::Approx(50e6));
  links.seen("a", "c", speed(80 * megabyte, true), seconds(2));
  CHECK(1 / links.table({"a", "b", "c"}).at(0, 2).per_byte == doctest::Approx(80e6));
  // It keeps what is known fresh, and makes it faster but not slower.
  links.seen("a", "b", speed(3 * megabyte, true), seconds(50));
  CHECK(speed_of(links, "a", "b") == doctest::Approx(50e6));
  links.version(seconds(100));
  CHECK(links.known() == 1);
}

TEST_CASE("a speed that is not seen again is forgotten, later if it was as slow before") {
  HostLinks links;
  see(links, "a", "b", 1 * megabyte, seconds(0));
  see(links, "a", "c", 50 * megabyte, seconds(0));
  const auto version = links.version(seconds(59));
  CHECK(links.next_forgotten() == seconds(60));
  links.seen("a", "c", speed(50 * megabyte), seconds(59));
  CHECK(links.version(seconds(61)) != version);
  CHECK(links.known() == 1);
  // Tried again, it is as slow, and is left in peace for twice as long.
  see(links, "a", "b", 1 * megabyte, seconds(70));
  links.seen("a", "c", speed(50 * megabyte), seconds(189));
  links.version(seconds(189));
  CHECK(links.known() == 2);
  links.version(seconds(191));
  CHECK(links.known() == 1);
}

TEST_CASE("a host's links share what it was seen to send at most") {
  HostLinks links;
  links.sent("a", 30 * megabyte);
  for (int i = 0; i < 10; ++i) links.sent("a", 10 * megabyte);
  CHECK(links.uplinks({"a"})[0] == 0);  // It may have begun just now.
  links.sent("a", 10 * megabyte);
  const auto uplinks = links.uplinks({"b", "a"});
  CHECK(uplinks[0] == 0);
  CHECK(1 / uplinks[1] == doctest::Approx(30e6).epsilon(0.03));
  for (int i = 0; i < 20; ++i) links.sent("c", 0);
  CHECK(links.uplinks({"c"})[0] == 0);
}
