#include "smr/order/agreement/divergence.h"

#include <map>
#include <set>

#include "smr/order/transfer/state_testing.h"

namespace piracema::smr {

namespace {

using std::chrono::milliseconds;

/// What one operation has left, by instance from 1 on.
using Trails = std::vector<std::vector<std::uint64_t>>;

Trail answer(const Trails& trails, const TrailRequest& asked) {
  // Who has forgotten an instance has nothing of it.
  Instance first = asked.first;
  while (first <= trails.size() && trails[first - 1].empty()) first += 1;
  Trail trail{first, asked.operations, {}};
  for (Instance i = first; i <= asked.last && i <= trails.size(); ++i) {
    const auto& one = trails[i - 1];
    if (asked.operations) {
      trail.digests = one;
    } else {
      std::uint64_t all = 0;
      for (const std::uint64_t digest : one) all = all * 31 + digest;
      trail.digests.push_back(all);
    }
  }
  return trail;
}

/// Replica 0 has parted from all others; everybody answers from its own trails, if it is there.
struct Search {
  Search(std::map<ReplicaId, Trails> trails, std::size_t one_correct,
         std::set<ReplicaId> silent = {})
      : all(std::move(trails)),
        down(std::move(silent)),
        divergence(0, {.same_after = 0, .differs_after = 4, .others_agree = true, .others = ids()},
                   one_correct, milliseconds(100)) {
    std::vector<Action> out;
    divergence.begin(Time{}, out);
    deliver(std::move(out));
  }
  std::vector<ReplicaId> ids() const {
    std::vector<ReplicaId> others;
    for (const auto& [id, trails] : all) {
      if (id != 0) others.push_back(id);
    }
    return others;
  }
  void deliver(std::vector<Action> actions) {
    while (!actions.empty()) {
      std::vector<Action> next;
      for (const TellTrail& tell : all_of<TellTrail>(actions)) {
        divergence.on_trail(0, answer(all.at(0), tell.asked), next);
      }
      for (const auto& [to, asked] : sent<TrailRequest>(actions)) {
        if (!down.contains(to)) divergence.on_trail(to, answer(all.at(to), asked), next);
      }
      actions = std::move(next);
    }
  }
  void pass(Time to) {
    std::vector<Action> out;
    divergence.tick(to, out);
    deliver(std::move(out));
  }
  bool finds(Instance instance, std::uint32_t index) const {
    return divergence.place() == Divergence::Place{instance, index};
  }

  std::map<ReplicaId, Trails> all;
  std::set<ReplicaId> down;
  Divergence divergence;
};

const Trails right{{1, 2}, {3}, {4, 5, 6}, {7}};
Trails with(Instance instance, std::size_t index, std::uint64_t digest) {
  Trails other = right;
  other[instance - 1][index] = digest;
  return other;
}

}  // namespace

TEST_CASE("the first operation that two replicas did otherwise is found") {
  CHECK(Search({{0, with(3, 1, 50)}, {1, right}, {2, right}}, 1).finds(3, 1));
  CHECK(Search({{0, with(1, 0, 50)}, {1, right}, {2, right}}, 1).finds(1, 0));
  CHECK(Search({{0, with(4, 0, 50)}, {1, right}, {2, right}}, 1).finds(4, 0));
}

TEST_CASE("an operation that one has executed and the other has not is different") {
  Trails shorter = right;
  shorter[2].pop_back();
  CHECK(Search({{0, shorter}, {1, right}, {2, right}}, 1).finds(3, 2));
}

TEST_CASE("where all replies are the same no operation is named") {
  const Search search({{0, right}, {1, right}, {2, right}}, 1);
  CHECK_FALSE(search.divergence.place());
  CHECK(search.divergence.what() ==
        "the state of this replica (0) after instance 4 differs from that of a quorum of the "
        "others");
}

TEST_CASE("what some have forgotten is not taken for equal") {
  // All has been different since the second instance, which replica 1 and 2 know no more.
  Trails astray = right, gone = right;
  for (std::size_t i = 1; i < astray.size(); ++i) astray[i][0] += 50;
  gone[0] = gone[1] = {};
  const Search late({{0, astray}, {1, gone}, {2, gone}}, 1);
  REQUIRE(late.finds(3, 0));
  CHECK_FALSE(late.divergence.knows_all({3, 0}));
  CHECK(late.divergence.known_from({3, 0}) == 3);

  const Search known({{0, astray}, {1, right}, {2, gone}}, 1);
  REQUIRE(known.finds(2, 0));
  CHECK(known.divergence.knows_all({2, 0}));
}

TEST_CASE("a liar alone names no operation that the others do not") {
  const Search search({{0, with(3, 1, 50)}, {1, with(1, 0, 9)}, {2, right}, {3, right}}, 2);
  CHECK(search.finds(3, 1));
}

TEST_CASE("an answer is asked for again, and what came too late or unasked is of no use") {
  Search late({{0, with(3, 1, 50)}, {1, right}}, 1, {1});
  CHECK_FALSE(late.divergence.place());
  CHECK_FALSE(late.divergence.over(milliseconds(999)));
  late.down.clear();
  late.pass(milliseconds(100));
  CHECK(late.finds(3, 1));
  CHECK(late.divergence.over(milliseconds(1'000)));

  // Of an instance that nobody asked for, and of somebody whose state is not another one.
  std::vector<Action> none;
  late.divergence.on_trail(1, {1, true, {8, 9}}, none);
  late.divergence.on_trail(7, {1, false, {8, 9}}, none);
  CHECK(none.empty());
  CHECK(late.finds(3, 1));
}

}  // namespace piracema::smr
