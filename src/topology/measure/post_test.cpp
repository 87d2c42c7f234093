#include "topology/measure/post.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "topology/measure/detours.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using testing::ms;

TEST_CASE("what goes around a link that has become slow goes by those who see it so, too") {
  // The paper's changes: 4 and 6 are 10 s apart, and both 1 ms from 5 and 7.
  const auto links = testing::paper_links_after_changes();
  for (Rank from = 0; from < links.size(); ++from) {
    for (Rank to = 0; to < links.size(); ++to) {
      if (from == to) continue;
      double took = 0;
      Rank at = from;
      for (int hop = 0; at != to; ++hop) {
        REQUIRE(hop < 4);
        const Rank next = Detours(links, at).first(to);
        took += links.at(at, next).latency;
        at = next;
      }
      CHECK(took <= links.at(from, to).latency);
      CHECK(took < 1);
    }
  }
  CHECK(Detours(links, 4).latency(6) == doctest::Approx(2 * ms));
  CHECK(Detours(links, 4).first(5) == 5);
}

TEST_CASE("ways are straight where links are alike, and where nothing is known") {
  const LinkTable links(8, {10 * ms, 0});
  for (Rank to = 1; to < 8; ++to) {
    CHECK(Detours(links, 0).first(to) == to);
    CHECK(Detours(8).first(to) == to);
  }
}

TEST_CASE("a packet is opened by whom it is for, and passed on by others") {
  const Post sender(1, 4, 99), relay(2, 4, 99);
  const std::string packet = sender.wrap(3, 7, "text");
  const auto opened = relay.open(packet);
  REQUIRE(opened);
  CHECK(opened->from == 1);
  CHECK(opened->to == 3);
  CHECK(opened->guest == 7);
  CHECK(std::string(opened->bytes.begin(), opened->bytes.end()) == "text");
  const auto on = relay.pass_on(packet);
  REQUIRE(on);
  const auto again = relay.open(*on);
  REQUIRE(again);
  CHECK(again->from == 1);
  CHECK(std::string(again->bytes.begin(), again->bytes.end()) == "text");
}

TEST_CASE("a packet does not go around forever") {
  const Post post(0, 4, 1);
  std::optional<std::string> packet = post.wrap(3, 0, "");
  int relays = 0;
  while (packet) {
    packet = post.pass_on(*packet);
    relays += 1;
    REQUIRE(relays < 100);
  }
  CHECK(relays == Post::relays_max + 1);
}

TEST_CASE("packets of other jobs, and bytes that are none, are not opened") {
  const Post post(0, 4, 1), other(0, 4, 2), larger(5, 9, 1);
  CHECK_FALSE(post.open(other.wrap(3, 0, "text")));
  CHECK_FALSE(post.open(larger.wrap(3, 0, "text")));
  CHECK_FALSE(post.open(larger.wrap(8, 0, "text")));
  const std::string good = post.wrap(1, 2, "");
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK_FALSE(post.open(std::string_view(good).substr(0, length)));
  }
}
