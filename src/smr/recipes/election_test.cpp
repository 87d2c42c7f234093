#include <piracema/smr/election.h>

#include <vector>

#include "smr/recipes/testing.h"

namespace piracema::smr::kv {

using namespace piracema::smr::kv::testing;

namespace {

/// What an observer was told.
class Seen {
 public:
  void tell(const std::optional<Leader>& leader) {
    const std::lock_guard lock(mutex_);
    leaders_.push_back(leader);
    news_.notify_all();
  }
  /// Until the last word is this; false after a minute.
  bool wait_for(const std::optional<Leader>& leader) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, std::chrono::minutes(1),
                          [&] { return !leaders_.empty() && leaders_.back() == leader; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::optional<Leader>> leaders_;
};

}  // namespace

TEST_CASE("one of those who campaign leads until it resigns, and terms grow") {
  FakeGroup group;
  Election ann(group, "boss"), bob(group, "boss");
  CHECK_FALSE(ann.leads());
  CHECK_FALSE(ann.fence().has_value());
  CHECK_FALSE(ann.leader()->has_value());

  const auto first = ann.campaign("ann", for_long, at_once);
  REQUIRE(first.ok());
  CHECK(ann.leads());
  CHECK(*bob.leader() == Leader{"ann", *first});
  CHECK(bob.campaign("bob", for_long, at_once).error().code == Errc::timeout);

  CHECK(ann.resign().ok());
  CHECK_FALSE(ann.leads());
  const auto second = bob.campaign("bob", for_long, at_once);
  REQUIRE(second.ok());
  CHECK(*second > *first);
  CHECK(ann.resign().ok());
  CHECK(bob.leads());
}

TEST_CASE("an observer is told of every leader that stays, and that there is none") {
  FakeGroup group;
  Election ann(group, "boss"), watcher(group, "boss");
  Seen seen;
  watcher.observe([&](const auto& leader) { seen.tell(leader); });
  CHECK(seen.wait_for(std::nullopt));
  const auto first = ann.campaign("ann", for_long, at_once);
  REQUIRE(first.ok());
  CHECK(seen.wait_for(Leader{"ann", *first}));
  CHECK(ann.resign().ok());
  CHECK(seen.wait_for(std::nullopt));
  const auto second = ann.campaign("ann", for_long, at_once);
  REQUIRE(second.ok());
  CHECK(seen.wait_for(Leader{"ann", *second}));
}

TEST_CASE("a leader that is cut off is told so, and what it writes is refused") {
  FakeGroup group;
  Line line(group);
  Calls lost;
  Election ann(line, "boss"), bob(group, "boss");
  REQUIRE(ann.campaign("ann", {.ttl = short_ttl, .lost = [&] { lost.call(); }}, at_once).ok());
  const Fence former = *ann.fence();
  line.cut();
  CHECK(lost.wait_for(1));
  CHECK_FALSE(ann.leads());
  group.advance(long_ttl);
  REQUIRE(bob.campaign("bob", for_long, at_once).ok());
  CHECK(group.ask(Put{.key = "data", .value = "late", .fence = former}).status == Status::fenced);
  CHECK(group.ask(Put{.key = "data", .value = "new", .fence = bob.fence()}).status == Status::ok);
}

}  // namespace piracema::smr::kv
