#include "smr/order/core/proposal_check.h"

#include "smr/order/leader/testing.h"

using namespace piracema;
using namespace piracema::smr;
using Verdict = ProposalCheck::Verdict;

namespace {

struct Judge : TestSeat {
  explicit Judge(FaultModel model) : TestSeat(1, model, members_of(model)) {}

  Verdict judge(Instance instance, const BatchPtr& batch, Regency regency = 0) {
    Consensus& one = instances.at(instance, members.view().n());
    one.held = nullptr;
    CHECK(check.hold(one, Propose{instance, regency, batch}));
    return check.judge(instance, one);
  }

  ProposalCheck check{settings, step,   members, leadership, life,
                      proposer, proofs, clock,   pool,       auth};
};

const BatchPtr good = make_batch(0, {operation(1, 1, "a")});
/// It convinces replica 0 alone.
const BatchPtr doubtful = make_batch(0, {operation(1, 2, "b", "0")});

}  // namespace

TEST_CASE("a good proposal of this regency gets the vote, one of another regency waits") {
  for (const FaultModel model : both_models) {
    Judge one(model);
    CHECK(one.judge(1, good) == Verdict::vote);
    CHECK(one.judge(2, good, 1) == Verdict::wait);
  }
}

TEST_CASE("a held proposal is not pushed out by one of a later regency") {
  Judge one(FaultModel::byzantine);
  Consensus& consensus = one.instances.at(1, 4);
  CHECK(one.check.hold(consensus, Propose{1, 0, doubtful}));
  CHECK_FALSE(one.check.hold(consensus, Propose{1, 3, good}));
  CHECK(consensus.held == doubtful);
}

TEST_CASE("liars: what this replica cannot verify waits until f + 1 have written it") {
  Judge one(FaultModel::byzantine);
  CHECK(one.judge(1, doubtful) == Verdict::wait);
  CHECK(one.check.some_doubtful());
  Consensus& consensus = one.instances.at(1, 4);
  consensus.writes.put(2, {0, doubtful->digest});
  CHECK(one.check.judge(1, consensus) == Verdict::wait);
  consensus.writes.put(3, {0, doubtful->digest});
  CHECK(one.check.judge(1, consensus) == Verdict::vote);
  // Who only crashes is believed.
  CHECK(Judge(FaultModel::crash).judge(1, doubtful) == Verdict::vote);
}

TEST_CASE("liars: a batch of the future is looked at again when its time has come") {
  Judge one(FaultModel::byzantine);
  const std::uint64_t hour = 3'600'000'000'000;
  one.clock.recovered(one.now);
  CHECK(one.judge(1, make_batch(hour, {})) == Verdict::wait);
  REQUIRE(one.check.look_again_at());
  CHECK(*one.check.look_again_at() > one.now);
  one.check.looks_again();
  CHECK_FALSE(one.check.look_again_at());
}

TEST_CASE("what the SYNC of a regency rules out is no vote but a reason to leave it") {
  Judge one(FaultModel::crash);
  one.proposer.bind({{1, good->digest}}, 0);
  CHECK(one.judge(1, doubtful) == Verdict::ruled_out);
  CHECK(one.judge(1, good) == Verdict::vote);
}

TEST_CASE("nobody votes where it may have voted in a life that it forgot") {
  Judge one(FaultModel::crash);
  one.life.remember(5);
  CHECK(one.judge(5, good) == Verdict::wait);
  CHECK(one.judge(6, good) == Verdict::vote);
}

TEST_CASE("a proposal is no larger than a correct leader makes it") {
  Settings few;
  few.batch_requests = 1;
  TestSeat seat(1, FaultModel::crash, 3, few);
  ProposalCheck check(few, seat.step, seat.members, seat.leadership, seat.life, seat.proposer,
                      seat.proofs, seat.clock, seat.pool, seat.auth);
  CHECK(check.is_bounded(*good));
  CHECK_FALSE(check.is_bounded(*make_batch(0, {operation(1, 1, "a"), operation(1, 2, "b")})));
}
