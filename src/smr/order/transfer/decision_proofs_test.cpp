#include "smr/order/transfer/decision_proofs.h"

#include "smr/order/leader/testing.h"
#include "smr/order/messages/statements.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

/// Up to a milestone.
void decide_up_to(TestSeat& seat, Instance instance) {
  for (Instance i = 1; i <= instance; ++i) seat.progress.hand_out(digest_of(as_bytes("batch")));
}

Milestone word_of(ReplicaId id, Instance instance, const Digest& history) {
  Milestone word{instance, history, {}};
  word.signature = TestAuthenticator::signature(id, signed_bytes(word));
  return word;
}

}  // namespace

TEST_CASE("the words of so many that one is correct make a proof") {
  TestSeat seat(0, FaultModel::byzantine, 4);
  decide_up_to(seat, milestone_interval);
  CHECK_FALSE(seat.proofs.sign());
  CHECK(seat.sent<Milestone>().size() == 3);
  REQUIRE(seat.proofs.unproven());
  CHECK(seat.proofs.unproven()->instance == milestone_interval);

  // What another one signs of it counts, whoever brings it does not.
  const Milestone good = word_of(1, milestone_interval, seat.progress.history());
  CHECK_FALSE(seat.proofs.on_word({2, 2}, good));
  auto proof = seat.proofs.on_word({1, 1}, good);
  REQUIRE(proof);
  CHECK(seat.proofs.proves(*proof));
  CHECK_FALSE(seat.proofs.contradicts(*proof));
  seat.proofs.keep(std::move(*proof));
  CHECK(seat.proofs.proven() == milestone_interval);
  CHECK_FALSE(seat.proofs.unproven());
}

TEST_CASE("where nothing is a milestone nothing is signed") {
  TestSeat seat(0, FaultModel::byzantine, 4);
  decide_up_to(seat, milestone_interval - 1);
  CHECK_FALSE(seat.proofs.sign());
  CHECK(seat.sent<Milestone>().empty());
  seat.proofs.expect(milestone_interval - 1);
  seat.proofs.sign();
  CHECK(seat.sent<Milestone>().size() == 3);
}

TEST_CASE("a proof of something else contradicts what is decided here") {
  TestSeat seat(0, FaultModel::byzantine, 4);
  decide_up_to(seat, milestone_interval);
  const Digest other = digest_of(as_bytes("another history"));
  CHECK(seat.proofs.contradicts({milestone_interval, other, {}}));
  CHECK_FALSE(seat.proofs.contradicts({2 * milestone_interval, other, {}}));
}
