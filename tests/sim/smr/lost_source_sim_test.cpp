// A member that is far behind comes up by a narrow way, and whom it fetches from is lost in the
// middle: the group has no other member to do without, so that it stands still until this one has
// found another source.
#include <doctest/doctest.h>

#include <optional>

#include "sim/seeds.h"
#include "sim/smr/mutants.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t bytes_a_second = 100'000;
constexpr std::uint32_t state_bytes = 200'000;
constexpr ReplicaId lost = 0, behind = 2;
constexpr Time narrow = seconds(3), loss = seconds(4), end = seconds(30);
/// What the lost one has sent already comes first, pieces that were asked for twice among it; then
/// all of the state; then patience with a leader.
constexpr Time longest_gap = 3 * seconds(state_bytes / bytes_a_second) + milliseconds(2'500);

/// `ballast`: what the state has; without it batches are fetched.
Plan loaded(std::uint64_t seed, FaultModel model, std::uint32_t ballast) {
  Plan plan = calm(seed, model);
  plan.n = model == FaultModel::byzantine ? 4 : 3;
  plan.f = 1;
  plan.ballast = ballast;
  plan.chunk_bytes = 4'096;
  plan.settings.checkpoint_interval = ballast == 0 ? 100'000 : 64;
  plan.settings.window = 8;
  plan.settings.batch_requests = 4;
  plan.clients = 4;
  plan.outstanding = 2;
  plan.operations = 1'000'000;
  plan.think = milliseconds(20);
  plan.keys = 4;
  plan.reads = plan.leases = 0;
  plan.trouble_until = end;
  return plan;
}

/// `behind` is cut off, then hears `lost` alone, then for so long nobody, and then all but that.
class LostSource {
 public:
  LostSource(World& world, Time alone) : world_(world) {
    world.at(milliseconds(200), [this] { cut(behind); });
    world.at(narrow, [this] {
      world_.wires().heal();
      world_.wires().set_rate(behind, bytes_a_second);
      for (ReplicaId id = 0; id < world_.replicas(); ++id) {
        if (id != lost && id != behind) world_.wires().block(id, behind);
      }
    });
    world.at(loss, [this] {
      cut(lost);
      cut(behind);
    });
    world.at(loss + alone, [this] {
      world_.wires().heal();
      cut(lost);
      newest_at_ = world_.now();
      measure();
    });
    world.at(end - milliseconds(10), [this] { world_.give_up_asking(); });
  }

  Time gap() const { return gap_; }

 private:
  void cut(ReplicaId one) {
    for (ReplicaId id = 0; id < world_.replicas(); ++id) {
      if (id == one) continue;
      world_.wires().block(one, id);
      world_.wires().block(id, one);
    }
  }
  void measure() {
    const Instance newest = world_.oracle().newest();
    if (newest != newest_) {
      newest_ = newest;
      newest_at_ = world_.now();
    }
    if (world_.now() < end - milliseconds(100)) gap_ = std::max(gap_, world_.now() - newest_at_);
    world_.after(milliseconds(10), [this] { measure(); });
  }

  World& world_;
  Instance newest_ = 0;
  Time newest_at_{}, gap_{};
};

std::string outcome(std::uint64_t seed, FaultModel model, std::uint32_t ballast, Time alone = {}) {
  World world(loaded(seed, model, ballast));
  LostSource faults(world, alone);
  world.run();
  std::string text = world.complaints();
  if (faults.gap() > longest_gap) {
    text += concat("nothing is decided for ", faults.gap() / milliseconds(1), " ms\n");
  }
  return text;
}

bool is_found(const char* mutant) {
  const Mutant on(mutant);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    if (!outcome(seed, FaultModel::crash, state_bytes).empty()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("whoever fetches a checkpoint and loses its source finds another") {
  for (const auto seed : runs(30)) {
    CHECK(outcome(seed, FaultModel::crash, state_bytes) == "");
    CHECK(outcome(seed, FaultModel::byzantine, state_bytes) == "");
  }
}

TEST_CASE("whoever fetches batches and loses its source finds another") {
  for (const auto seed : runs(30)) {
    CHECK(outcome(seed, FaultModel::crash, 0) == "");
    CHECK(outcome(seed, FaultModel::byzantine, 0) == "");
  }
}

TEST_CASE(
    "whoever is alone for a while goes on when somebody is there, whom it did not fetch from") {
  for (const auto seed : runs(30)) {
    CHECK(outcome(seed, FaultModel::crash, state_bytes, seconds(12)) == "");
    CHECK(outcome(seed, FaultModel::crash, 0, seconds(12)) == "");
  }
}

TEST_CASE("who does not ask the others, or wants what only the lost one had, finds none") {
  CHECK((sim::tracing() || is_found("sticks_to_its_sources")));
  CHECK((sim::tracing() || is_found("keeps_to_its_checkpoint")));
}

}  // namespace piracema::smr_sim
