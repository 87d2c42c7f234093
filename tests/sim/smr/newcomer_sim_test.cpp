// A replica that takes the place of another while the group works: it comes by a narrow way,
// messages are lost, and what it needs to know grows all the time.
#include <doctest/doctest.h>

#include <optional>

#include "sim/seeds.h"
#include "sim/smr/mutants.h"
#include "sim/smr/world.h"
#include "smr/order/views/newcomers.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint32_t state_bytes = 200'000;
constexpr std::uint64_t bytes_a_second = 50'000;
/// What the state takes on an empty way; a newcomer may take twice that, and some seconds for what
/// is lost: each such message costs the better part of one.
constexpr Time bare = seconds(state_bytes / bytes_a_second);
constexpr Time near_by = 2 * bare + seconds(4);
/// Another member dies as soon as the newcomer counts. Answers go on after the patience with a
/// leader.
constexpr Time longest_gap = milliseconds(2'500);
constexpr Time begins = seconds(2);

Plan loaded(std::uint64_t seed, FaultModel model) {
  Plan plan = calm(seed, model);
  plan.n = model == FaultModel::byzantine ? 4 : 3;
  plan.f = 1;
  plan.spares = 1;
  plan.ballast = state_bytes;
  plan.chunk_bytes = 4'096;
  plan.settings.checkpoint_interval = 64;
  plan.settings.window = 8;
  plan.settings.batch_requests = 4;
  plan.clients = 4;
  plan.outstanding = 2;
  plan.operations = 1'000'000;
  plan.think = milliseconds(60);
  plan.keys = 4;
  plan.reads = plan.leases = 0;
  plan.trouble_until = seconds(25);
  plan.wires.loss = 0.005;
  return plan;
}

/// Replaces a member that is dead, as Administrator does, and kills another one when that is done.
class Replacement {
 public:
  explicit Replacement(World& world)
      : world_(world),
        dead_(1),
        added_(static_cast<ReplicaId>(world.plan().n)),
        newcomers_(world.view(), {added_}) {
    world.wires().set_rate(added_, bytes_a_second);
    world.at(milliseconds(10), [this] { world_.crash(added_, begins - world_.now()); });
    world.at(milliseconds(1'500), [this] { world_.crash(dead_, seconds(1'000)); });
    // One of those that it fetches from stands still for a moment.
    world.at(begins + seconds(1),
             [this] { world_.replica(0).freeze_until(world_.now() + milliseconds(300)); });
    world.at(begins, [this] { look(); });
    world.at(begins, [this] { measure(); });
  }

  std::optional<Time> near_at() const { return near_at_; }
  Time gap() const { return gap_; }

 private:
  void look() {
    for (ReplicaId id = 0; id < world_.replicas(); ++id) {
      const Replica& one = world_.replica(id);
      if (!one.up()) continue;
      const auto [pieces, of] = one.core().fetched();
      newcomers_.told(world_.now(), id, {one.core().decided(), one.core().is_silent(), pieces, of});
    }
    if (!newcomers_.are_near()) {
      if (world_.now() > begins + 3 * near_by) return world_.give_up_asking();
      return world_.after(milliseconds(100), [this] { look(); });
    }
    near_at_ = world_.now() - begins;
    world_.ask_for(ViewChange{
        .from = 0, .remove = {dead_}, .add = {{added_, concat("replica:", added_), ""}}, .f = {}});
    kill_another();
  }
  void kill_another() {
    if (!world_.latest_view().has(added_)) {
      return world_.after(milliseconds(20), [this] { kill_another(); });
    }
    world_.after(milliseconds(200), [this] {
      world_.crash(2, seconds(6));
      changed_at_ = world_.now();
    });
    world_.after(seconds(8), [this] { world_.give_up_asking(); });
  }
  // How long nothing is decided, from then on.
  void measure() {
    const Instance newest = world_.oracle().newest();
    if (newest != newest_) {
      newest_ = newest;
      newest_at_ = world_.now();
    }
    if (changed_at_ && world_.now() < *changed_at_ + seconds(7)) {
      gap_ = std::max(gap_, world_.now() - newest_at_);
    }
    world_.after(milliseconds(10), [this] { measure(); });
  }

  World& world_;
  const ReplicaId dead_, added_;
  Newcomers newcomers_;
  std::optional<Time> near_at_, changed_at_;
  Instance newest_ = 0;
  Time newest_at_{}, gap_{};
};

std::string outcome(std::uint64_t seed, FaultModel model) {
  World world(loaded(seed, model));
  Replacement replacement(world);
  world.run();
  std::string text = world.complaints();
  const auto near = replacement.near_at();
  const auto ms = [](Time time) { return time / milliseconds(1); };
  if (!near || *near > near_by) {
    text += concat("the newcomer is not near after ", ms(near_by), " ms, but after ",
                   near ? ms(*near) : -1, "\n");
  }
  if (replacement.gap() > longest_gap) {
    text += concat("nothing is decided for ", ms(replacement.gap()), " ms\n");
  }
  return text;
}

/// Replaces all members one after the other; each dies, and is dead for good, before it is taken
/// out, and the next one as soon as those that are left count the newcomer.
class ReplacementOfAll {
 public:
  explicit ReplacementOfAll(World& world) : world_(world), n_(world.plan().n) {
    world.at(begins, [this] { next(); });
  }
  bool is_done() const { return done_; }

 private:
  void next() {
    const ReplicaId dead = gone_++;
    world_.crash(dead, seconds(1'000));
    world_.after(milliseconds(50), [this, dead] {
      const ReplicaId added = dead + n_;
      world_.ask_for(ViewChange{.from = world_.latest_view().id,
                                .remove = {dead},
                                .add = {{added, concat("replica:", added), ""}},
                                .f = {}});
      wait_for(added);
    });
  }
  void wait_for(ReplicaId added) {
    const bool counts = world_.latest_view().has(added) && world_.replica(added).up() &&
                        world_.replica(added).core().view().has(added);
    if (!counts) return world_.after(milliseconds(1), [this, added] { wait_for(added); });
    if (gone_ < n_) return next();
    done_ = true;
    world_.after(seconds(2), [this] { world_.give_up_asking(); });
  }

  World& world_;
  const std::uint32_t n_;
  ReplicaId gone_ = 0;
  bool done_ = false;
};

// Whom a client may ask that knows those that the group began with, of whom none is left.
std::string who_cannot_prove(std::uint64_t seed) {
  Plan plan = loaded(seed, FaultModel::crash);
  plan.spares = plan.n;
  plan.ballast = 0;
  World world(plan);
  ReplacementOfAll replacement(world);
  world.run();
  std::string text = world.complaints();
  if (!replacement.is_done()) text += "not all are replaced\n";
  for (ReplicaId id = plan.n; id < 2 * plan.n; ++id) {
    const std::vector<SignedView> chain = world.replica(id).core().signed_views();
    if (chain.size() == plan.n) continue;
    text += concat("replica ", id, " can prove ", chain.size(), " of ", plan.n, " changes\n");
  }
  return text;
}

template <class Outcome>
bool is_found(const char* mutant, std::uint64_t seeds, Outcome outcome_of) {
  const Mutant on(mutant);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    if (!outcome_of(seed).empty()) return true;
  }
  return false;
}

bool is_found(const char* mutant, std::uint64_t seeds) {
  return is_found(mutant, seeds,
                  [](std::uint64_t seed) { return outcome(seed, FaultModel::crash); });
}

}  // namespace

TEST_CASE(
    "a newcomer comes up under load within twice the time of the bare state, and then counts") {
  for (const auto seed : runs(30)) {
    CHECK(outcome(seed, FaultModel::crash) == "");
    CHECK(outcome(seed, FaultModel::byzantine) == "");
  }
}

TEST_CASE("when all that began are gone, each that is left can prove who they are now") {
  for (const auto seed : runs(100)) CHECK(who_cannot_prove(seed) == "");
}

TEST_CASE("a newcomer that does not ask how it has become a member cannot prove it later") {
  CHECK((sim::tracing() || is_found("newcomers_cannot_prove", 3, who_cannot_prove)));
}

TEST_CASE(
    "who is left behind in a view whose other members are gone has to ask those of the next") {
  CHECK((sim::tracing() || is_found("left_behind_waits", 30, who_cannot_prove)));
}

TEST_CASE("who asks for pieces again before they can have come does not get there in time") {
  CHECK((sim::tracing() || is_found("impatient_fetch", 3)));
}

TEST_CASE("what follows on a checkpoint has to be there still when it has been loaded") {
  CHECK((sim::tracing() || is_found("forgets_who_follows", 30)));
}

TEST_CASE("a newcomer that counts before it has caught up costs service with the next fault") {
  CHECK((sim::tracing() || is_found("newcomers_count_at_once", 3)));
}

}  // namespace piracema::smr_sim
