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

bool is_found(const char* mutant, std::uint64_t seeds) {
  const Mutant on(mutant);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    if (!outcome(seed, FaultModel::crash).empty()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE(
    "a newcomer comes up under load within twice the time of the bare state, and then counts") {
  for (const auto seed : runs(30)) {
    CHECK(outcome(seed, FaultModel::crash) == "");
    CHECK(outcome(seed, FaultModel::byzantine) == "");
  }
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
