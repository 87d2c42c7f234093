#include "smr/order/leader/proposer.h"

#include "smr/order/leader/testing.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

constexpr Instance far = 1'000'000;

}  // namespace

TEST_CASE("the leader proposes what waits, and nothing if nothing does") {
  TestSeat seat(0);
  CHECK_FALSE(seat.proposer.can_propose(far));
  seat.pool.add(operation(1, 1, "a"), seat.now, std::nullopt);
  REQUIRE(seat.proposer.can_propose(far));
  CHECK_FALSE(seat.proposer.can_propose(0));
  const BatchPtr batch = seat.proposer.propose();
  REQUIRE(batch);
  CHECK(batch->requests.size() == 1);
  CHECK(seat.sent<Propose>().size() == 2);
  CHECK(seat.proposer.next() == 2);
  CHECK_FALSE(seat.proposer.can_propose(far));
}

TEST_CASE("who follows proposes nothing") {
  TestSeat seat(1);
  seat.pool.add(operation(1, 1, "a"), seat.now, std::nullopt);
  CHECK_FALSE(seat.proposer.can_propose(far));
  CHECK_FALSE(seat.proposer.next_deadline());
}

TEST_CASE("no more instances are open than the window has") {
  TestSeat seat(0, FaultModel::crash, 3, one_request_a_batch());
  for (Sequence s = 1; s <= 100; ++s) seat.pool.add(operation(1, s, "a"), seat.now, std::nullopt);
  std::vector<BatchPtr> batches;
  while (seat.proposer.can_propose(far)) batches.push_back(seat.proposer.propose());
  CHECK(batches.size() == seat.settings.window);
  seat.decide(batches.front());
  CHECK(seat.proposer.can_propose(far));
}

TEST_CASE("what is bound is proposed again, and fetched before if it is not here") {
  TestSeat seat(1);
  seat.leadership.enter(1);
  seat.proposer.unbind();
  const BatchPtr here = make_batch(500, {operation(1, 1, "a")});
  const BatchPtr elsewhere = make_batch(600, {operation(1, 2, "b")});
  seat.instances.at(1, 3).keep(here, false);
  seat.leadership.begin();
  seat.proposer.bind({{1, here->digest}, {3, elsewhere->digest}}, 0);
  seat.proposer.begin(3);
  REQUIRE(seat.proposer.bound_at(3));
  CHECK_FALSE(seat.proposer.bound_at(2));

  CHECK(seat.proposer.propose() == here);
  // A hole that nobody can fill.
  REQUIRE(seat.proposer.can_propose(far));
  CHECK(seat.proposer.propose()->requests.empty());
  REQUIRE(seat.proposer.can_propose(far));
  CHECK_FALSE(seat.proposer.propose());
  CHECK(seat.sent<FetchBatch>().size() == 2);
  CHECK(seat.proposer.is_fetching());
  CHECK_FALSE(seat.proposer.can_propose(far));

  seat.instances.at(3, 3).keep(elsewhere, false);
  seat.proposer.fetched(3, elsewhere);
  REQUIRE(seat.proposer.can_propose(far));
  CHECK(seat.proposer.propose() == elsewhere);
  CHECK_FALSE(seat.proposer.can_propose(far));
}

TEST_CASE("a leader that has nothing to say says now and then that it lives") {
  TestSeat seat(0);
  seat.proposer.beat();
  CHECK(seat.sent<Heartbeat>().size() == 2);
  seat.proposer.beat();
  CHECK(seat.sent<Heartbeat>().size() == 2);
  CHECK(seat.proposer.next_deadline() == seat.now + seat.settings.heartbeat_interval);
  seat.pass(seat.settings.heartbeat_interval);
  seat.proposer.beat();
  CHECK(seat.sent<Heartbeat>().size() == 2);
}
