#include <piracema/smr/lock.h>

#include <thread>

#include "smr/recipes/testing.h"

namespace piracema::smr::kv {

using namespace piracema::smr::kv::testing;

namespace {

LockOptions options_of(const std::string& holder, Calls* lost = nullptr) {
  return {.lease = {.ttl = long_ttl,
                    .lost =
                        [lost] {
                          if (lost != nullptr) lost->call();
                        }},
          .holder = holder};
}

}  // namespace

TEST_CASE("a lock has one holder, and its tokens grow from one to the next") {
  FakeGroup group;
  auto ann = Lock::acquire(group, "lock", options_of("ann"), at_once);
  REQUIRE(ann.ok());
  CHECK((*ann)->held());
  CHECK(group.get("lock") == "ann");

  const auto bob = Lock::acquire(group, "lock", options_of("bob"), at_once);
  REQUIRE_FALSE(bob.ok());
  CHECK(bob.error().code == Errc::timeout);
  CHECK(bob.error().message.find("ann") != std::string::npos);

  const Index first = (*ann)->token();
  CHECK((*ann)->release().ok());
  CHECK_FALSE((*ann)->held());
  auto again = Lock::acquire(group, "lock", options_of("bob"), at_once);
  REQUIRE(again.ok());
  CHECK((*again)->token() > first);
}

TEST_CASE("who waits for a lock gets it when its holder lets go") {
  FakeGroup group;
  auto ann = Lock::acquire(group, "lock", options_of("ann"), at_once);
  REQUIRE(ann.ok());
  Result<std::unique_ptr<Lock>> bob = Error{Errc::failed, "not asked"};
  std::thread waits([&] { bob = Lock::acquire(group, "lock", options_of("bob")); });
  ann->reset();
  waits.join();
  REQUIRE(bob.ok());
  CHECK(group.get("lock") == "bob");
}

TEST_CASE("a holder that is cut off loses the lock to another one and writes nothing any more") {
  FakeGroup group;
  Line line(group);
  Calls lost;
  auto ann = Lock::acquire(line, "lock",
                           {.lease = {.ttl = short_ttl, .lost = [&] { lost.call(); }}}, at_once);
  REQUIRE(ann.ok());
  line.cut();
  CHECK(lost.wait_for(1));
  CHECK_FALSE((*ann)->held());

  group.advance(long_ttl);
  const auto bob = Lock::acquire(group, "lock", options_of("bob"), at_once);
  REQUIRE(bob.ok());
  CHECK((*bob)->token() > (*ann)->token());
  const auto write = [&](const Lock& lock) {
    return group.ask(Put{.key = "data", .value = "x", .fence = lock.fence()}).status;
  };
  CHECK(write(**ann) == Status::fenced);
  CHECK(write(**bob) == Status::ok);

  // That it comes back and lets go of what it had takes nothing from its successor.
  line.mend();
  ann->reset();
  CHECK(group.get("lock") == "bob");
}

TEST_CASE("a lock whose answer was lost is found to be one's own") {
  FakeGroup group;
  REQUIRE(Lock::acquire(group, "lock", options_of("nobody"), at_once).ok());
  for (int lost_answers = 1; lost_answers <= 3; ++lost_answers) {
    CAPTURE(lost_answers);
    group.lose_answers(lost_answers);
    auto ann = Lock::acquire(group, "lock", options_of("ann"));
    REQUIRE(ann.ok());
    CHECK(group.get("lock") == "ann");
    CHECK((*ann)->token() == group.ask(Get{"lock"}).entries.at(0).created);
  }
}

TEST_CASE("a lock that somebody has removed by force is lost") {
  FakeGroup group;
  Calls lost;
  LockOptions options = options_of("ann", &lost);
  options.lease.ttl = std::chrono::seconds(2);
  auto ann = Lock::acquire(group, "lock", options, at_once);
  REQUIRE(ann.ok());
  group.ask(Remove{.key = "lock"});
  CHECK(lost.wait_for(1));
  CHECK_FALSE((*ann)->held());
}

TEST_CASE("a lock of no name is refused, and one of an absent group is not had") {
  FakeGroup group;
  CHECK(Lock::acquire(group, "", {}, at_once).error().code == Errc::refused);
  group.set_away(true);
  CHECK(Lock::acquire(group, "lock", {}, at_once).error().code == Errc::timeout);
}

}  // namespace piracema::smr::kv
