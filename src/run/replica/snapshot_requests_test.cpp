#include "run/replica/snapshot_requests.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::runtime;

namespace {
using What = SnapshotRequests::Next::What;
}

TEST_CASE("a snapshot is saved before it is committed, and a former one committed before that") {
  SnapshotRequests requests;
  requests.trigger(4, false);
  requests.commit(3);
  requests.commit(4);
  auto next = requests.take(true);
  REQUIRE(next);
  CHECK((next->what == What::commit && next->snapshot == 3));
  next = requests.take(true);
  REQUIRE(next);
  CHECK((next->what == What::save && next->snapshot == 4));
  requests.saved(4);
  next = requests.take(true);
  REQUIRE(next);
  CHECK((next->what == What::commit && next->snapshot == 4));
  CHECK_FALSE(requests.take(true));
}

TEST_CASE("who goes by barriers takes no snapshot by a trigger, but commits") {
  SnapshotRequests requests;
  requests.trigger(4, false);
  CHECK_FALSE(requests.take(false));
  requests.commit(4);
  const auto next = requests.take(false);
  REQUIRE(next);
  CHECK(next->what == What::commit);
  CHECK(requests.take(true)->what == What::save);
}

TEST_CASE("a snapshot that was saved is not taken again") {
  SnapshotRequests requests;
  requests.saved(4);
  requests.trigger(4, false);
  CHECK_FALSE(requests.take(true));
  requests.trigger(5, false);
  CHECK(requests.take(true)->snapshot == 5);
}

TEST_CASE("a replica that is held has saved the snapshot, and goes on with the next trigger") {
  SnapshotRequests requests;
  requests.trigger(4, true);
  CHECK_FALSE(requests.is_held());
  requests.saved(4);
  CHECK(requests.is_held());
  requests.trigger(4, false);
  CHECK_FALSE(requests.is_held());
}

TEST_CASE("what was committed, or is older than that, is known") {
  SnapshotRequests requests;
  CHECK_FALSE(requests.was_committed(0));
  requests.committed(3);
  requests.committed(2);
  CHECK(requests.was_committed(3));
  CHECK_FALSE(requests.was_committed(4));
}
