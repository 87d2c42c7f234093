// Followers are replaced one after the other: the leader leads on, and where it dies at such a
// moment another one leads.
#include <doctest/doctest.h>

#include <algorithm>

#include "sim/seeds.h"
#include "sim/smr/mutants.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Time first_change = seconds(3), between_changes = milliseconds(400);
constexpr std::uint32_t changes = 3;
/// Answers go on after the patience with a leader.
constexpr Time longest_gap = milliseconds(2'500);

Plan peaceful(std::uint64_t seed, FaultModel model) {
  Plan plan = calm(seed, model);
  plan.spares = changes;
  plan.operations = 1'000'000;
  plan.think = milliseconds(20);
  plan.leases = 0;
  plan.trouble_until = seconds(12);
  return plan;
}

/// The first leader resigns; then followers are replaced by others, as Administrator does.
class Replacements {
 public:
  /// `kills`: the leader dies, within a moment of the last change.
  Replacements(World& world, bool kills) : world_(world), kills_(kills) {
    world.at(seconds(1), [this] { world_.crash(0, milliseconds(200)); });
    world.at(first_change, [this] {
      leader_ = leader_now();
      next();
      watch();
    });
  }

  /// One line for each thing that ought not to be.
  std::string wrong() const {
    std::string text = wrong_;
    if (done_ < changes) text += concat("of ", changes, " changes ", done_, " came to pass\n");
    if (gap_ > longest_gap) {
      text += concat("nothing is decided for ", gap_ / milliseconds(1), " ms\n");
    }
    return text;
  }

 private:
  // The one of most regencies knows it.
  ReplicaId leader_now() {
    ReplicaId newest = 0;
    for (const MemberInfo& member : world_.latest_view().members) {
      const auto& one = world_.replica(member.id).core();
      if (one.regency() > world_.replica(newest).core().regency()) newest = member.id;
    }
    return world_.replica(newest).core().leader();
  }
  void next() {
    const View& view = world_.latest_view();
    const auto gone = std::find_if(view.members.begin(), view.members.end(),
                                   [this](const auto& one) { return one.id != leader_; });
    const auto added = static_cast<ReplicaId>(world_.plan().n + done_);
    world_.ask_for(ViewChange{.from = view.id,
                              .remove = {gone->id},
                              .add = {{added, concat("replica:", added), ""}},
                              .f = {},
                              .leader = leader_});
    if (kills_ && done_ + 1 == changes) {
      world_.after(milliseconds(world_.random().below(100)), [this] {
        world_.crash(leader_, seconds(6));
        killed_ = true;
      });
    }
    wait_for(view.id + 1);
  }
  void wait_for(ViewId wanted) {
    const View& view = world_.latest_view();
    const bool all_are_there =
        view.id == wanted && std::ranges::all_of(view.members, [&](const MemberInfo& member) {
          const Replica& one = world_.replica(member.id);
          return !one.up() || one.core().view().id == wanted;
        });
    if (!all_are_there) return world_.after(milliseconds(5), [this, wanted] { wait_for(wanted); });
    done_ += 1;
    if (done_ < changes) return world_.after(between_changes, [this] { next(); });
    world_.after(seconds(3), [this] {
      over_ = true;
      world_.give_up_asking();
    });
  }
  void watch() {
    if (over_) return;
    const Instance newest = world_.oracle().newest();
    if (newest != newest_) {
      newest_ = newest;
      newest_at_ = world_.now();
    }
    gap_ = std::max(gap_, world_.now() - newest_at_);
    for (ReplicaId id = 0; id < world_.replicas() && !killed_; ++id) look_at(world_.replica(id));
    world_.after(milliseconds(1), [this] { watch(); });
  }
  void look_at(const Replica& one) {
    if (!wrong_.empty() || !one.up() || one.core().view().id == 0) return;
    if (one.core().leader() == leader_ && one.core().regency() == 0) return;
    wrong_ =
        concat("replica ", one.id(), " has leader ", one.core().leader(), " in regency ",
               one.core().regency(), " of view ", one.core().view().id, ", not ", leader_, "\n");
  }

  World& world_;
  const bool kills_;
  ReplicaId leader_ = 0;
  std::uint32_t done_ = 0;
  bool killed_ = false, over_ = false;
  Instance newest_ = 0;
  Time newest_at_ = first_change, gap_{};
  std::string wrong_;
};

std::string outcome(std::uint64_t seed, FaultModel model, bool kills) {
  World world(peaceful(seed, model));
  const Replacements replacements(world, kills);
  world.run();
  return world.complaints() + replacements.wrong();
}

}  // namespace

TEST_CASE("where nothing fails a change of the members deposes no leader that stays") {
  for (const auto seed : runs(100)) {
    CHECK(outcome(seed, FaultModel::crash, false) == "");
    CHECK(outcome(seed, FaultModel::byzantine, false) == "");
  }
}

TEST_CASE("a leader that dies while a change keeps it is followed by another one") {
  for (const auto seed : runs(100)) {
    CHECK(outcome(seed, FaultModel::crash, true) == "");
    CHECK(outcome(seed, FaultModel::byzantine, true) == "");
  }
}

}  // namespace piracema::smr_sim
