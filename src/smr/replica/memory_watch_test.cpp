#include "smr/replica/memory_watch.h"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smr/testing.h"
#include "wire/fields.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

/// One replica, the bytes that it sends, and what it asks for.
struct Watched {
  struct Sent {
    ReplicaId to = 0;
    std::uint8_t kind = 0;
    Buffer message;
  };
  std::vector<Sent> sent;
  std::set<ReplicaId> up;
  std::optional<Buffer> written;
  std::optional<Error> failure;
  MemoryWatch watch;

  Watched(ReplicaId me, std::uint64_t life, bool lost = false)
      : watch(me, life, lost,
              {[this](ReplicaId to, std::uint8_t kind, Bytes message) {
                 sent.push_back({to, kind, Buffer(message)});
               },
               [this](ReplicaId peer) { return up.contains(peer); },
               [this](Buffer lives) { written = std::move(lives); },
               [this](Error why) { failure = std::move(why); }}) {}
};

}  // namespace

TEST_CASE("a replica that was here with another memory is refused, and ends when it is told") {
  const View view = test_view();
  Watched here(0, 10), before(1, 20), after(1, 21);
  before.watch.connected(0, false);
  REQUIRE(here.watch.received(1, before.sent[0].kind, before.sent[0].message, view));
  CHECK(here.written);
  CHECK(here.sent.empty());

  after.watch.connected(0, false);
  REQUIRE(here.watch.received(1, after.sent[0].kind, after.sent[0].message, view));
  CHECK(here.watch.is_forgetful(1));
  REQUIRE(here.sent.size() == 1);
  CHECK(here.sent[0].to == 1);

  REQUIRE(after.watch.received(0, here.sent[0].kind, here.sent[0].message, view));
  REQUIRE(after.failure);
  CHECK(after.failure->code == Errc::config);
  // The refusal is of one life, and of nobody who says that it has lost the other.
  REQUIRE(before.watch.received(0, here.sent[0].kind, here.sent[0].message, view));
  CHECK_FALSE(before.failure);
  Watched lost(1, 21, true);
  REQUIRE(lost.watch.received(0, here.sent[0].kind, here.sent[0].message, view));
  CHECK_FALSE(lost.failure);
}

TEST_CASE("what was written down is known after a restart") {
  const View view = test_view();
  Watched first(0, 10), peer(1, 20), other(1, 21);
  peer.watch.connected(0, false);
  first.watch.received(1, peer.sent[0].kind, peer.sent[0].message, view);
  REQUIRE(first.written);
  Watched again(0, 10);
  REQUIRE(again.watch.restore(*first.written).ok());
  other.watch.connected(0, false);
  again.watch.received(1, other.sent[0].kind, other.sent[0].message, view);
  CHECK(again.watch.is_forgetful(1));
}

TEST_CASE("whoever is connected hears when silence begins and ends") {
  const View view = test_view();
  Watched here(0, 10, true);
  here.up = {2};
  Time now = std::chrono::seconds(1);
  for (const bool silent : {true, true, false, false}) {
    here.watch.tick(now, view, silent);
    now += std::chrono::milliseconds(100);
  }
  REQUIRE(here.sent.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(here.sent[i].to == 2);
    const auto told = wire::decode<LifeTold>(here.sent[i].message);
    REQUIRE(told);
    CHECK(told->life == 10);
    CHECK(told->lost);
    CHECK(told->silent == (i == 0));
  }
}

TEST_CASE("other messages are somebody else's") {
  Watched here(0, 10);
  CHECK_FALSE(here.watch.received(1, 1, {}, test_view()));
}
