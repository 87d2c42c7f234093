#include "smr/order/leader/leader_rate.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;

namespace {

/// A leader that needs `each` for a request, with somebody who always waits; why it was to go.
std::optional<std::string> lead(LeaderRate& rate, Time& now, ReplicaId leader, Time each,
                                Time until, bool forwards = false) {
  rate.begin(now, leader);
  rate.waiting(now, true);
  std::vector<ReplicaId> others;
  for (ReplicaId id = 0; id < 4; ++id) {
    if (id != leader) others.push_back(id);
  }
  for (const Time end = now + until; now < end;) {
    now += each;
    rate.decided(now, 1, true);
    if (forwards) rate.forwarded();
    if (auto why = rate.check(now, others)) return why;
  }
  return std::nullopt;
}

constexpr milliseconds slow{100}, fast{1};

}  // namespace

TEST_CASE("a leader under which nothing waits for long leads on, however long that is") {
  LeaderRate rate{Settings{}};
  Time now{};
  CHECK_FALSE(lead(rate, now, 0, fast, std::chrono::seconds(100)));
  CHECK(*rate.rate_of(0) == doctest::Approx(1'000).epsilon(0.01));
}

TEST_CASE("a leader that stands still most of the time is replaced, and again when it is back") {
  LeaderRate rate{Settings{}};
  Time now{};
  const auto why = lead(rate, now, 0, slow, std::chrono::seconds(100));
  REQUIRE(why);
  CHECK(why->find("leader 0 orders 10 requests a second") == 0);
  CHECK_FALSE(lead(rate, now, 1, fast, std::chrono::seconds(100)));
  CHECK_FALSE(lead(rate, now, 2, fast, std::chrono::seconds(100)));
  CHECK_FALSE(lead(rate, now, 3, fast, std::chrono::seconds(100)));
  const auto again = lead(rate, now, 0, slow, std::chrono::seconds(100));
  REQUIRE(again);
  CHECK(again->find("another one ordered") != again->npos);
}

TEST_CASE("a group that is slow under every leader tries each once and comes to rest") {
  LeaderRate rate{Settings{}};
  Time now{};
  for (ReplicaId leader = 0; leader < 3; ++leader) {
    CHECK(lead(rate, now, leader, slow, std::chrono::seconds(100)));
  }
  CHECK_FALSE(lead(rate, now, 3, slow, std::chrono::seconds(1'000)));
}

TEST_CASE("a leader that leaves requests out is compared with others, though it orders the rest") {
  LeaderRate rate{Settings{}};
  Time now{};
  CHECK(lead(rate, now, 0, milliseconds(3), std::chrono::seconds(100), true));
  for (ReplicaId leader = 1; leader < 4; ++leader) {
    CHECK_FALSE(lead(rate, now, leader, fast, std::chrono::seconds(10)));
  }
  CHECK(lead(rate, now, 0, milliseconds(3), std::chrono::seconds(100), true));
  // Who has a client that makes others forward for nothing, and is as fast as they, stays.
  CHECK_FALSE(lead(rate, now, 1, fast, std::chrono::seconds(100), true));
}

TEST_CASE("nobody is judged by the time in which nothing was asked for") {
  LeaderRate rate{Settings{}};
  Time now{};
  rate.begin(now, 0);
  for (int i = 0; i < 1'000; ++i) {
    now += std::chrono::seconds(1);
    rate.waiting(now, true);
    now += milliseconds(200);
    rate.decided(now, 1, false);
    CHECK_FALSE(rate.check(now, {1, 2, 3}));
  }
}
