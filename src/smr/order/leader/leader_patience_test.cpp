#include "smr/order/leader/leader_patience.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;

namespace {

const milliseconds silence = Settings{}.silence_timeout;

/// Its SYNC never came, however long it was waited for.
void fail(LeaderPatience& patience, Time& now) {
  now = patience.sync_by();
  patience.enter(now, {.synced = false, .followed = true, .some_wait = true});
}

}  // namespace

TEST_CASE("patience doubles with each change of the leader that fails") {
  LeaderPatience patience{Settings{}};
  Time now(1'000'000);
  patience.start(now);
  CHECK(patience.silent_at() == now + silence);
  patience.wait_for_sync(now);
  fail(patience, now);
  CHECK(patience.patient(silence) == 2 * silence);
  fail(patience, now);
  CHECK(patience.patient(silence) == 4 * silence);
  // There is an end to that.
  for (int i = 0; i < 20; ++i) fail(patience, now);
  CHECK(patience.patient(silence) == 64 * silence);
}

TEST_CASE("a leader that has worked for a while is replaced without a longer wait") {
  LeaderPatience patience{Settings{}};
  Time now(1'000'000);
  patience.start(now);
  patience.wait_for_sync(now);
  fail(patience, now);
  patience.begin(now);
  patience.begin_work(now);
  patience.hear(now + silence / 2, true);
  CHECK(patience.patient(silence) == 2 * silence);
  patience.decided(now + silence, true);
  CHECK(patience.patient(silence) == silence);
  patience.enter(now + 9 * silence, {.synced = true, .followed = true, .some_wait = true});
  CHECK(patience.patient(silence) == silence);
}

TEST_CASE("what the leader had no part in is no work of its") {
  LeaderPatience patience{Settings{}};
  Time now(1'000'000);
  patience.start(now);
  patience.wait_for_sync(now);
  fail(patience, now);
  patience.begin(now);
  patience.begin_work(now);
  patience.decided(now + 2 * silence, false);
  CHECK(patience.goes_on(now + 2 * silence));
  CHECK(patience.patient(silence) == 2 * silence);
}

TEST_CASE("a replica forgives its own lateness, but not a third time in a row") {
  LeaderPatience patience{Settings{}};
  Time now(1'000'000);
  patience.start(now);
  now += 10 * silence;
  CHECK(patience.forgive(now, 9 * silence));
  CHECK(patience.silent_at() > now);
  now = patience.silent_at() + silence;
  CHECK(patience.forgive(now, silence));
  CHECK_FALSE(patience.forgive(now + silence, silence));
  patience.hear(now + silence, false);
  CHECK(patience.forgive(now + 9 * silence, silence));
}
