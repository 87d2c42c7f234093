#include <piracema/smr/lease.h>

#include "smr/recipes/testing.h"

namespace piracema::smr::kv {

using namespace piracema::smr::kv::testing;

TEST_CASE("a lease keeps itself alive, and its entries are there as long as it is") {
  FakeGroup group;
  Calls lost;
  constexpr std::chrono::seconds ttl{4};
  auto lease = Lease::grant(group, {.ttl = ttl, .lost = [&] { lost.call(); }});
  REQUIRE(lease.ok());
  group.ask(Put{.key = "a", .value = "1", .lease = (*lease)->id()});
  // By the group's clock more time passes than the lease would last by itself.
  for (int i = 0; i < 3; ++i) {
    group.advance(ttl / 2);
    REQUIRE(group.wait_for_ordered(1));
  }
  CHECK(lost.count() == 0);
  CHECK((*lease)->alive());
  CHECK(group.get("a") == "1");
}

TEST_CASE("a lease that is released takes its entries along and calls nobody") {
  FakeGroup group;
  Calls lost;
  auto lease = Lease::grant(group, {.ttl = long_ttl, .lost = [&] { lost.call(); }});
  REQUIRE(lease.ok());
  group.ask(Put{.key = "a", .value = "1", .lease = (*lease)->id()});
  CHECK((*lease)->release().ok());
  CHECK_FALSE((*lease)->alive());
  CHECK(group.get("a") == "(none)");
  CHECK((*lease)->release().ok());
  CHECK(lost.count() == 0);
}

TEST_CASE("a lease that nobody wants any more is released") {
  FakeGroup group;
  {
    auto lease = Lease::grant(group, {.ttl = long_ttl});
    REQUIRE(lease.ok());
    group.ask(Put{.key = "a", .value = "1", .lease = (*lease)->id()});
  }
  CHECK(group.get("a") == "(none)");
}

TEST_CASE("a holder is told that its lease is lost when the group does not answer") {
  FakeGroup group;
  Calls lost;
  auto lease = Lease::grant(group, {.ttl = short_ttl, .lost = [&] { lost.call(); }});
  REQUIRE(lease.ok());
  group.set_away(true);
  CHECK(lost.wait_for(1));
  CHECK_FALSE((*lease)->alive());
  // It does not come to life again.
  group.set_away(false);
  CHECK_FALSE((*lease)->alive());
  CHECK(lost.count() == 1);
}

TEST_CASE("a holder is told that its lease is lost when the group says so") {
  FakeGroup group;
  Calls lost;
  auto lease = Lease::grant(group, {.ttl = std::chrono::seconds(2), .lost = [&] { lost.call(); }});
  REQUIRE(lease.ok());
  group.advance(long_ttl);
  CHECK(lost.wait_for(1));
  CHECK_FALSE((*lease)->alive());
}

TEST_CASE("a lease is lost with the entry that it guards") {
  FakeGroup group;
  Calls lost;
  auto lease = Lease::grant(group, {.ttl = std::chrono::seconds(2), .lost = [&] { lost.call(); }});
  REQUIRE(lease.ok());
  const Reply put = group.ask(Put{.key = "a", .value = "1", .lease = (*lease)->id()});
  (*lease)->guard({"a", put.entries.at(0).created});
  group.ask(Remove{.key = "a"});
  group.ask(Put{.key = "a", .value = "somebody else's"});
  CHECK(lost.wait_for(1));
}

TEST_CASE("a lease that is too short or cannot be had is an error") {
  FakeGroup group;
  CHECK(Lease::grant(group, {.ttl = std::chrono::milliseconds(99)}).error().code == Errc::config);
  group.set_away(true);
  CHECK(Lease::grant(group, {}).error().code == Errc::timeout);
}

}  // namespace piracema::smr::kv
