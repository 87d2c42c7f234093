#include "smr/order/transfer/checkpoints.h"

#include <limits>

#include "smr/order/messages/settings.h"
#include "smr/order/messages/statements.h"
#include "smr/order/transfer/state_testing.h"

namespace piracema::smr {

namespace {

using std::chrono::milliseconds;

struct One {
  explicit One(FaultModel model, ReplicaId me = 0)
      : view(state_view(model, model == FaultModel::byzantine ? 4 : 3)),
        keys(me),
        checkpoints(me, model, keys, 10, milliseconds(100)) {}

  CheckpointInfo info(Instance instance, std::string_view state) const {
    CheckpointInfo known;
    known.instance = instance;
    known.state = some_digest(state);
    return known;
  }
  // What a replica in this state votes.
  CheckpointVote vote_of(ReplicaId who, Instance instance, std::string_view state) const {
    CheckpointInfo whole = info(instance, state);
    whole.history = some_digest("history");
    whole.time = 7;
    whole.view = view;
    CheckpointVote vote{instance, digest_of(whole), {}, false};
    vote.signature = StateKeys::by(who, signed_bytes(vote));
    return vote;
  }
  /// At this replica and another one, in a group of three.
  void stable(Instance instance) {
    take(instance, "state");
    vote(1, instance, "state");
  }
  void take(Instance instance, std::string_view state) {
    checkpoints.begin({instance, some_digest("history"), 7, view, {}, 0}, out);
    checkpoints.taken(Time{}, info(instance, state), {some_digest("chunk")}, out);
  }
  void vote(ReplicaId who, Instance instance, std::string_view state) {
    checkpoints.on_vote(who, vote_of(who, instance, state), out);
  }
  bool stable_at(Instance instance) const {
    return checkpoints.stable() && checkpoints.stable()->checkpoint.instance == instance;
  }

  View view;
  StateKeys keys;
  Checkpoints checkpoints;
  std::vector<Action> out;
};

}  // namespace

TEST_CASE("a checkpoint is due at every multiple of the interval, and after many bytes") {
  One one(FaultModel::crash);
  std::vector<Instance> due;
  for (Instance i = 1; i <= 35; ++i) {
    if (one.checkpoints.due(i, i == 14 ? checkpoint_bytes : 100)) due.push_back(i);
  }
  CHECK(due == std::vector<Instance>{10, 14, 24, 34});
}

TEST_CASE("a checkpoint is stable once a quorum has the same state, and then what is older goes") {
  One one(FaultModel::byzantine);
  one.take(10, "state");
  CHECK(sent<CheckpointVote>(one.out).size() == 3);
  one.vote(1, 10, "state");
  CHECK_FALSE(one.checkpoints.stable());
  one.out.clear();
  one.vote(2, 10, "state");

  REQUIRE(one.stable_at(10));
  CHECK(one.checkpoints.stable()->signatures.size() == 3);
  CHECK(one.checkpoints.stable()->checkpoint.time == 7);
  REQUIRE(one.out.size() == 2);
  CHECK(std::holds_alternative<Persist>(one.out[0]));
  CHECK(all_of<Truncate>(one.out).at(0).instance == 10);
  CHECK(one.checkpoints.manifest(10)->size() == 1);
  CHECK(one.checkpoints.manifest(9) == nullptr);
}

TEST_CASE("votes that come before the replica's own count with it") {
  One one(FaultModel::crash);
  one.vote(2, 10, "state");
  CHECK(one.checkpoints.reached_by(1) == 10);
  CHECK(one.checkpoints.reached_by(2) == 0);
  one.take(10, "state");
  CHECK(one.stable_at(10));
}

TEST_CASE("neither a forged vote nor a second one of the same member counts") {
  One one(FaultModel::byzantine);
  one.take(10, "state");
  one.checkpoints.on_vote(1, one.vote_of(2, 10, "state"), one.out);  // Signed by 2, sent by 1.
  one.vote(2, 10, "other");
  one.vote(2, 10, "state");
  one.vote(2, 10, "state");
  one.vote(3, 10, "state");
  CHECK_FALSE(one.checkpoints.stable());
  one.vote(1, 10, "state");
  CHECK(one.stable_at(10));
  REQUIRE(all_of<Note>(one.out).size() == 1);
  CHECK(all_of<Note>(one.out)[0].text ==
        "the state of replica 2 after instance 10 differs from that of a quorum");
}

TEST_CASE("a replica whose state differs from that of a quorum has parted from it") {
  One one(FaultModel::byzantine);
  one.take(10, "mine");
  one.vote(1, 10, "theirs");
  one.vote(2, 10, "theirs");
  CHECK_FALSE(one.checkpoints.parted());
  one.vote(3, 10, "theirs");
  REQUIRE(one.checkpoints.parted());
  CHECK(one.checkpoints.parted()->same_after == 0);
  CHECK(one.checkpoints.parted()->differs_after == 10);
  CHECK(one.checkpoints.parted()->others_agree);
  CHECK(one.checkpoints.parted()->others == std::vector<ReplicaId>{1, 2, 3});
  CHECK_FALSE(one.checkpoints.stable());
}

TEST_CASE("replicas have parted when no state can have a quorum any more") {
  One one(FaultModel::byzantine);
  one.take(10, "a");
  one.vote(1, 10, "a");
  one.vote(2, 10, "b");
  CHECK_FALSE(one.checkpoints.parted());
  one.vote(3, 10, "b");
  REQUIRE(one.checkpoints.parted());
  CHECK_FALSE(one.checkpoints.parted()->others_agree);
  CHECK(one.checkpoints.parted()->others == std::vector<ReplicaId>{2, 3});
}

TEST_CASE("somebody's stable checkpoint is stable here too, if it is the same") {
  for (const char* state : {"state", "another one"}) {
    One one(FaultModel::byzantine);
    one.take(10, "state");
    CheckpointInfo info = one.info(10, state);
    info.history = some_digest("history");
    info.time = 7;
    info.view = one.view;
    one.out.clear();
    one.checkpoints.prove(2, signed_checkpoint(info, {1, 2, 3}), one.out);
    const bool same = std::string_view(state) == "state";
    CHECK(one.stable_at(10) == same);
    CHECK(all_of<Truncate>(one.out).size() == (same ? 1 : 0));
    CHECK(one.checkpoints.parted().has_value() == !same);
  }
}

TEST_CASE("with four checkpoints that are not stable there is an end to what may be ordered") {
  One one(FaultModel::crash);
  constexpr Instance no_end = std::numeric_limits<Instance>::max();
  for (Instance i = 1; i <= 40; ++i) {
    CHECK(one.checkpoints.horizon() == no_end);
    if (one.checkpoints.due(i, 0)) one.take(i, "state");
  }
  CHECK(one.checkpoints.horizon() == 40 + view_delay);
  for (Instance i = 41; i <= 60; ++i) static_cast<void>(one.checkpoints.due(i, 0));
  CHECK(one.checkpoints.horizon() == 40 + view_delay);
  one.vote(1, 10, "state");
  CHECK(one.checkpoints.horizon() == 50 + view_delay);
  one.vote(1, 40, "state");
  CHECK(one.checkpoints.horizon() == no_end);
}

TEST_CASE("a vote is said again until the checkpoint is stable, and answered by who has it") {
  One slow(FaultModel::crash, 0), quick(FaultModel::crash, 1);
  quick.take(10, "state");
  quick.vote(2, 10, "state");
  REQUIRE(quick.stable_at(10));
  CHECK_FALSE(quick.checkpoints.next_deadline());

  slow.take(10, "state");
  REQUIRE(slow.checkpoints.next_deadline() == milliseconds(100));
  slow.out.clear();
  slow.checkpoints.tick(milliseconds(100), slow.out);
  const auto again = sent<CheckpointVote>(slow.out);
  REQUIRE(again.size() == 2);

  quick.out.clear();
  quick.checkpoints.on_vote(0, again[0].second, quick.out);
  const auto answer = sent<CheckpointVote>(quick.out);
  REQUIRE(answer.size() == 1);
  CHECK(answer[0].first == 0);
  slow.checkpoints.on_vote(1, answer[0].second, slow.out);
  CHECK(slow.stable_at(10));

  // No answer to an answer.
  slow.out.clear();
  slow.checkpoints.on_vote(1, answer[0].second, slow.out);
  CHECK(slow.out.empty());
}

TEST_CASE("a later checkpoint may be stable before an earlier one, which then is forgotten") {
  One one(FaultModel::crash);
  one.take(10, "a");
  one.take(20, "b");
  one.vote(1, 20, "b");
  CHECK(one.stable_at(20));
  one.vote(1, 10, "a");
  CHECK(one.stable_at(20));
  CHECK(one.checkpoints.manifest(10) == nullptr);
}

TEST_CASE("a member that votes for thousands of checkpoints keeps a few, and proves nothing") {
  One one(FaultModel::byzantine);
  for (Instance i = 1; i <= 5'000; ++i) one.vote(3, 10 * i, "state");
  CHECK(one.checkpoints.reached_by(1) == 50'000);
  one.take(10, "state");
  one.vote(1, 10, "state");
  one.vote(2, 10, "state");
  CHECK(one.stable_at(10));
}

TEST_CASE("what follows on the last checkpoint before somebody is kept while it goes on by that") {
  One one(FaultModel::crash);
  one.take(10, "a");
  one.vote(1, 10, "a");
  one.checkpoints.follows(milliseconds(1), 2, 17);
  CHECK(one.checkpoints.kept_from() == 10);
  one.take(20, "b");
  one.vote(1, 20, "b");
  CHECK(one.checkpoints.kept_from() == 10);
  // It has come nearer.
  one.checkpoints.follows(milliseconds(2), 2, 25);
  one.take(30, "c");
  one.vote(1, 30, "c");
  CHECK(one.checkpoints.kept_from() == 20);
}

TEST_CASE("who is offered a newer checkpoint while it fetches one still finds that one") {
  One one(FaultModel::crash);
  one.stable(10);
  one.checkpoints.fetched(milliseconds(1), 2, 10);
  one.stable(20);
  one.checkpoints.offered(milliseconds(2), 2);
  one.stable(30);
  CHECK(one.checkpoints.manifest(10) != nullptr);
  CHECK(one.checkpoints.kept_from() == 10);
  // It asks for a piece of the newer one: that is what it fetches now.
  one.checkpoints.fetched(milliseconds(3), 2, 30);
  one.stable(40);
  CHECK(one.checkpoints.manifest(10) == nullptr);
  CHECK(one.checkpoints.kept_from() == 30);
}

TEST_CASE("what is offered is kept for who fetches nothing, or has not asked for long") {
  One one(FaultModel::crash);
  one.stable(10);
  one.checkpoints.offered(milliseconds(1), 2);
  one.stable(20);
  CHECK(one.checkpoints.kept_from() == 10);
  one.checkpoints.offered(milliseconds(1) + fetch_silence_max, 2);
  one.stable(30);
  CHECK(one.checkpoints.kept_from() == 20);
}

TEST_CASE("after a transfer the checkpoint that was fetched is the stable one") {
  One one(FaultModel::byzantine);
  one.checkpoints.begin({10, some_digest("history"), 7, one.view, {}, 0}, one.out);
  CheckpointInfo fetched = one.info(30, "state");
  fetched.view = one.view;
  one.checkpoints.adopt(signed_checkpoint(fetched, {1, 2, 3}), {some_digest("c")});
  one.checkpoints.restart_after(30);
  CHECK(one.stable_at(30));
  CHECK(one.checkpoints.manifest(30)->at(0) == some_digest("c"));
  // The one that was under way comes too late.
  one.out.clear();
  one.checkpoints.taken(Time{}, one.info(10, "state"), {}, one.out);
  CHECK(one.out.empty());
  CHECK_FALSE(one.checkpoints.due(39, 0));
  CHECK(one.checkpoints.due(40, 0));
}

}  // namespace piracema::smr
