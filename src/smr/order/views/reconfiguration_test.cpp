#include "smr/order/views/reconfiguration.h"

#include "smr/order/messages/statements.h"
#include "smr/order/transfer/state_testing.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

using std::chrono::milliseconds;

BatchPtr change(ViewChange what, Kind kind = Kind::reconfigure) {
  Request request{99, 0, 1, kind, 0, encode(std::move(what)), {}};
  return make_batch(1, {std::move(request)});
}

ViewChange add(ReplicaId id, ViewId from = 0) {
  ViewChange one;
  one.from = from;
  one.add = {{id, "host:" + std::to_string(id), ""}};
  return one;
}

struct ChangingGroup {
  explicit ChangingGroup(FaultModel model, std::uint32_t n) : view(state_view(model, n)) {
    for (ReplicaId id = 0; id < n + 1; ++id) keys.push_back(std::make_unique<StateKeys>(id));
    for (ReplicaId id = 0; id < n + 1; ++id) {
      members.push_back(std::make_unique<Reconfiguration>(id, *keys[id], view, milliseconds(100)));
    }
  }
  // Everybody decides it, and what they say to each other arrives.
  void decide(Instance instance, const BatchPtr& batch) {
    std::vector<std::pair<ReplicaId, std::vector<Action>>> said;
    for (ReplicaId id = 0; id < view.n(); ++id) {
      said.emplace_back(id, std::vector<Action>{});
      members[id]->decided(Time{}, instance, *batch, said.back().second);
    }
    for (const auto& [from, actions] : said) {
      for (const auto& [to, vote] : sent<ViewVote>(actions)) members[to]->on_vote(from, vote, out);
    }
  }

  View view;
  std::vector<std::unique_ptr<StateKeys>> keys;
  std::vector<std::unique_ptr<Reconfiguration>> members;
  std::vector<Action> out;
};

}  // namespace

TEST_CASE("a change adds, removes and replaces replicas and changes f") {
  const View view = state_view(FaultModel::crash, 3);
  ViewChange replace = add(7);
  replace.remove = {1};
  auto next = next_view(view, encode(replace));
  REQUIRE(next);
  CHECK(next->id == 1);
  CHECK(next->n() == 3);
  CHECK_FALSE(next->has(1));
  CHECK(next->members[2].id == 7);

  ViewChange larger = add(3);
  larger.add.push_back({4, "host:4", ""});
  larger.f = 2;
  CHECK(next_view(view, encode(larger))->f == 2);
}

TEST_CASE("who leads when a change is asked for leads the next view first, if it stays") {
  const View view = state_view(FaultModel::crash, 3);
  ViewChange replace = add(7);
  replace.remove = {1};
  const auto first = [&view](ViewChange change) {
    const auto next = next_view(view, encode(std::move(change)));
    REQUIRE(next);
    CHECK(next->n() == 3);
    return next->leader(0);
  };
  CHECK(first(replace) == 0);
  replace.leader = 2;
  CHECK(first(replace) == 2);
  SUBCASE("one that goes leads no longer") { replace.leader = 1; }
  SUBCASE("a newcomer leads nothing at once") { replace.leader = 7; }
  SUBCASE("nor does one that takes the number of one that goes") {
    replace.add[0].id = 1;
    replace.leader = 1;
  }
  SUBCASE("nor one that nobody knows") { replace.leader = 99; }
  CHECK(first(replace) == 0);
}

TEST_CASE("each change says anew who leads, whoever led the view before first") {
  View view = state_view(FaultModel::crash, 3);
  ViewChange larger = add(3);
  larger.leader = 2;
  view = *next_view(view, encode(larger));
  CHECK(view.leader(0) == 2);
  CHECK(view.leader(1) == 3);
  CHECK(view.leader(2) == 0);
  ViewChange smaller{.from = 1, .remove = {3}, .add = {}, .f = {}, .leader = 1};
  CHECK(next_view(view, encode(smaller))->leader(0) == 1);
  smaller.leader.reset();
  CHECK(next_view(view, encode(smaller))->leader(0) == 0);
}

TEST_CASE("a change that a log has of before is what it was: the lowest id leads first") {
  Buffer before;
  wire::FieldWriter out(before);
  ViewChange change = add(7);
  change.remove = {1};
  out.put(change.from);
  out.put(change.remove);
  out.put(change.add);
  out.put(change.f);
  const auto next = next_view(state_view(FaultModel::crash, 3), before);
  REQUIRE(next);
  CHECK(next->has(7));
  CHECK(next->leader(0) == 0);
}

TEST_CASE("a change from which no view comes is refused in one line") {
  const View view = state_view(FaultModel::byzantine, 4);
  const auto why = [&](const ViewChange& one) { return next_view(view, encode(one)).error(); };
  ViewChange fewer;
  fewer.remove = {3};
  CHECK(why(fewer).message == "f = 1 Byzantine faults need 4 replicas, the view has 3");
  CHECK(why(add(2)).message == "two replicas have the identity 2");
  ViewChange unknown;
  unknown.remove = {9};
  CHECK(why(unknown).message == "replica 9 is to go and is not there");
  CHECK(why(add(5, 3)).code == Errc::refused);
  CHECK(next_view(view, as_bytes("noise")).error().code == Errc::corrupt);
}

TEST_CASE("a view rules view_delay instances after its decision, on every replica alike") {
  ChangingGroup group(FaultModel::crash, 3);
  group.decide(5, change(add(3)));
  Reconfiguration& one = *group.members[0];
  CHECK(one.next_from() == 5 + view_delay + 1);
  CHECK(one.fill_until() == 5 + view_delay);
  CHECK_FALSE(one.passed(5 + view_delay - 1, group.out));
  CHECK(one.view().n() == 3);
  group.out.clear();
  CHECK(one.passed(5 + view_delay, group.out));
  CHECK(one.view().n() == 4);
  CHECK(all_of<UseView>(group.out).at(0).view.id == 1);
  CHECK(one.fill_until() == 0);
  CHECK_FALSE(one.passed(5 + view_delay + 1, group.out));
}

TEST_CASE("while a change waits another one is refused, and an operation of another kind is none") {
  ChangingGroup group(FaultModel::crash, 3);
  group.decide(4, change(add(9), Kind::ordered));
  CHECK_FALSE(group.members[0]->next());
  group.decide(5, change(add(3)));
  group.decide(6, change(add(4)));
  CHECK(group.members[0]->next()->has(3));
  CHECK_FALSE(group.members[0]->next()->has(4));
}

TEST_CASE("a quorum of the old view signs the new one, and who knows the old one believes it") {
  ChangingGroup group(FaultModel::byzantine, 4);
  group.decide(5, change(add(4)));
  for (ReplicaId id = 0; id < 4; ++id) CHECK(group.members[id]->since(0).size() == 1);
  const SignedView signed_view = group.members[0]->since(0)[0];
  CHECK(signed_view.signatures.size() >= 3);

  Reconfiguration& late = *group.members[4];
  CHECK_FALSE(late.trusts(signed_view.view));
  std::vector<Action> out;
  late.on_signed(signed_view, out);
  CHECK(late.trusts(signed_view.view));
  CHECK(all_of<Persist>(out).size() == 1);
  CHECK(late.others() == std::vector<ReplicaId>{0, 1, 2, 3});
}

TEST_CASE("a view with too few signatures, of strangers or of one member often, is not believed") {
  ChangingGroup group(FaultModel::byzantine, 4);
  View next = *next_view(group.view, encode(add(4)));
  const auto signed_by_these = [&](const std::vector<ReplicaId>& who) {
    SignedView one{next, {}};
    for (const ReplicaId id : who) {
      one.signatures.push_back({id, StateKeys::by(id, signed_bytes(next))});
    }
    std::vector<Action> out;
    group.members[0]->on_signed(one, out);
    return group.members[0]->trusts(next);
  };
  CHECK_FALSE(signed_by_these({0, 1}));
  CHECK_FALSE(signed_by_these({0, 1, 1, 1}));
  CHECK_FALSE(signed_by_these({0, 1, 4, 7}));  // 4 is only a member of the new one.
  CHECK(signed_by_these({0, 1, 3}));
}

TEST_CASE("with crash faults one old member is enough, whoever else crashed before it had signed") {
  ChangingGroup group(FaultModel::crash, 3);
  Reconfiguration& left = *group.members[1];
  std::vector<Action> out;
  left.decided(Time{}, 5, *change(add(3)), out);
  REQUIRE(left.since(0).size() == 1);
  // Nobody else has anything to say of it, ever.
  CHECK_FALSE(left.next_deadline());
  const SignedView signed_view = left.since(0)[0];
  CHECK(signed_view.signatures.size() == 1);
  Reconfiguration& late = *group.members[3];
  late.on_signed(signed_view, group.out);
  CHECK(late.trusts(signed_view.view));
}

TEST_CASE("a chain of views is believed link by link, and not past a missing one") {
  ChangingGroup group(FaultModel::crash, 3);
  std::vector<SignedView> chain;
  View last = group.view;
  for (ViewId id = 0; id < 3; ++id) {
    View next = *next_view(last, encode(add(10 + id, id)));
    SignedView one{next, {}};
    for (const MemberInfo& member : last.members) {
      one.signatures.push_back({member.id, StateKeys::by(member.id, signed_bytes(next))});
    }
    chain.push_back(one);
    last = next;
  }
  std::vector<Action> out;
  Reconfiguration& late = *group.members[0];
  late.on_signed(chain[1], out);
  CHECK_FALSE(late.trusts(chain[1].view));
  for (const SignedView& one : chain) late.on_signed(one, out);
  CHECK(late.trusts(chain[2].view));
  CHECK(late.since(1).size() == 2);
}

TEST_CASE("signatures that were lost are asked for again, also after a restart") {
  ChangingGroup group(FaultModel::byzantine, 4);
  std::vector<Action> out, other;
  Reconfiguration& alone = *group.members[0];
  alone.decided(Time{}, 5, *change(add(4)), out);
  CHECK(alone.since(0).empty());
  REQUIRE(alone.next_deadline() == milliseconds(100));

  Reconfiguration again(0, *group.keys[0], group.view, milliseconds(100));
  for (const Persist& persist : all_of<Persist>(out)) {
    again.recover(std::get<ViewScheduled>(persist.record));
  }
  out.clear();
  again.tick(milliseconds(100), out);
  CHECK(sent<ViewVote>(out).size() == 4);  // To the new member as well.

  // Another one that has all signatures answers with them.
  std::vector<Action> said;
  group.members[1]->decided(Time{}, 5, *change(add(4)), said);
  group.members[2]->decided(Time{}, 5, *change(add(4)), other);
  group.members[1]->on_vote(0, sent<ViewVote>(out)[0].second, said);
  group.members[1]->on_vote(2, sent<ViewVote>(other)[0].second, said);
  REQUIRE(group.members[1]->since(0).size() == 1);
  said.clear();
  group.members[1]->on_vote(0, sent<ViewVote>(out)[0].second, said);
  REQUIRE(sent<SignedView>(said).size() == 1);
  again.on_signed(sent<SignedView>(said)[0].second, out);
  CHECK(again.since(0).size() == 1);
  CHECK_FALSE(again.next_deadline());
}

TEST_CASE("with crash faults a view that was read from the log is signed without others") {
  ChangingGroup group(FaultModel::crash, 3);
  Reconfiguration& again = *group.members[0];
  again.recover(ViewScheduled{5 + view_delay + 1, *next_view(group.view, encode(add(3)))});
  again.tick(Time{}, group.out);
  CHECK(again.since(0).size() == 1);
  CHECK_FALSE(again.next_deadline());
}

TEST_CASE("who is no member when a change is decided asks for its proof, and its word counts not") {
  ChangingGroup group(FaultModel::crash, 3);
  std::vector<Action> out;
  Reconfiguration& added = *group.members[3];
  added.decided(Time{}, 5, *change(add(3)), out);
  CHECK(added.since(0).empty());
  REQUIRE(sent<ViewVote>(out).size() == 3);
  REQUIRE(added.next_deadline() == milliseconds(100));
  const ViewVote question = sent<ViewVote>(out)[0].second;

  // One that has not decided it says nothing yet, and believes no stranger.
  std::vector<Action> said;
  Reconfiguration& member = *group.members[1];
  member.on_vote(3, question, said);
  CHECK(said.empty());
  CHECK(member.since(0).empty());
  member.decided(Time{}, 5, *change(add(3)), said);
  said.clear();
  member.on_vote(3, question, said);
  REQUIRE(sent<SignedView>(said).size() == 1);
  added.on_signed(sent<SignedView>(said)[0].second, out);
  CHECK(added.since(0).size() == 1);
  CHECK_FALSE(added.next_deadline());
}

}  // namespace piracema::smr
