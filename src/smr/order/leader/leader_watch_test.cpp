#include "smr/order/leader/leader_watch.h"

#include "smr/order/leader/testing.h"

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("another leader is asked for when this one is silent for too long") {
  TestSeat seat(1);
  REQUIRE(seat.watch.next_deadline());
  CHECK(*seat.watch.next_deadline() == seat.now + seat.settings.silence_timeout);
  seat.pass(seat.settings.silence_timeout / 2);
  seat.watch.heard();
  seat.pass(seat.settings.silence_timeout / 2);
  seat.watch.tick();
  CHECK(seat.leadership.content());
  seat.pass(seat.settings.silence_timeout / 2);
  seat.watch.tick();
  CHECK(seat.leadership.wanted() == 1);
  CHECK(seat.sent<Stop>().size() == 2);
}

TEST_CASE("a request that is not ordered is forwarded, and then another leader is asked for") {
  Settings settings;
  settings.silence_timeout = milliseconds(60'000);
  TestSeat seat(1, FaultModel::crash, 3, settings);
  seat.pool.add(operation(1, 1, "a"), seat.now, std::nullopt);
  seat.pass(settings.request_timeout);
  seat.watch.tick();
  REQUIRE(seat.sent<Forward>().size() == 2);
  CHECK(seat.sent<Forward>()[0].requests.size() == 1);
  CHECK(seat.leadership.content());
  seat.pass(settings.request_timeout);
  seat.watch.tick();
  CHECK(seat.leadership.wanted() == 1);
}

TEST_CASE("a replica that stood still blames nobody for it") {
  TestSeat seat(1);
  const Time late = 5 * Time(seat.settings.silence_timeout);
  seat.pass(late);
  seat.watch.forgive(seat.now, late);
  seat.watch.tick();
  CHECK(seat.leadership.content());
}

TEST_CASE("a regency that does not begin is left, as long as this replica votes") {
  for (const bool remembers : {true, false}) {
    TestSeat seat(2);
    if (!remembers) {
      seat.life.builds_on(9);
      seat.life.doubt(0);
    }
    seat.change.enter(1);
    seat.pass(seat.settings.sync_timeout);
    seat.watch.tick();
    CHECK(seat.leadership.content() == !remembers);
  }
}
