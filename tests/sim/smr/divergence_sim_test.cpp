// State machines that are not the same on all replicas.
#include <doctest/doctest.h>

#include <set>

#include "sim/smr/world.h"

namespace piracema::smr_sim {

using smr::FaultModel;
using smr::ReplicaId;

namespace {

Plan plan_of(std::uint64_t seed, FaultModel model) {
  Plan plan = calm(seed, model);
  plan.n = model == FaultModel::crash ? 3 : 4;
  plan.f = 1;
  plan.operations = 100;
  plan.settings.batch_requests = 1 + seed % 3;
  plan.leases = 0;
  plan.trouble_until = std::chrono::seconds(4);
  return plan;
}

/// The next checkpoint of each of the three is of a state that nobody else has. With another one
/// between their mistakes two agree there yet.
bool all_part_at_once(World& world) {
  std::set<smr::Instance> places;
  for (const ReplicaId id : {0u, 1u, 2u}) {
    const Replica& one = world.replica(id);
    if (!one.shows_it()) return false;
    places.insert((one.went_astray()->instance - 1) / world.plan().settings.checkpoint_interval);
  }
  return places.size() == 1;
}

/// Nine of ten; where one seed is replayed it may be another one.
bool are_most(std::uint64_t some, std::uint64_t all) {
  return sim::tracing() || 10 * some >= 9 * all;
}

std::string name_of(const smr::Divergence::Place& place) {
  return concat("operation ", place.index, " of instance ", place.instance, ": client ");
}

}  // namespace

// A difference shows in a checkpoint. Where the group comes to none any more after the mistake, or
// the replica fell behind and became another one's checkpoint, nobody has it any more.
TEST_CASE("a replica whose machine does one operation otherwise ends, and names that operation") {
  std::uint64_t shown = 0, all = 0;
  for (const auto seed : runs(30)) {
    for (const auto model : {FaultModel::crash, FaultModel::byzantine}) {
      all += 1;
      World world(plan_of(seed, model));
      Replica& astray = world.replica(static_cast<ReplicaId>(seed % 3));
      astray.go_astray_at(1 + seed % 80);
      world.run();
      INFO(world.complaints());
      // With crash faults alone clients believe the first who answers them.
      if (model == FaultModel::byzantine) CHECK(world.complaints() == "");
      REQUIRE(astray.went_astray());
      const std::string went_astray = name_of(*astray.went_astray());
      CAPTURE(went_astray);
      CAPTURE(astray.why());
      if (!astray.shows_it()) {
        CHECK(astray.why() == "");
        continue;
      }
      shown += 1;
      CHECK(astray.why().find("differs from that of a quorum of the others") != std::string::npos);
      CHECK(astray.why().find(went_astray) != std::string::npos);
    }
  }
  CHECK(are_most(shown, all));
}

TEST_CASE("where no two replicas agree all of them say so, and where they parted first") {
  std::uint64_t shown = 0, all = 0;
  for (const auto seed : runs(20)) {
    all += 1;
    World world(plan_of(seed, FaultModel::crash));
    for (const ReplicaId id : {0u, 1u, 2u}) world.replica(id).go_astray_at(1 + seed % 80 + id);
    world.run();
    if (!all_part_at_once(world)) continue;
    shown += 1;
    for (const ReplicaId id : {0u, 1u, 2u}) {
      CAPTURE(world.replica(id).why());
      CHECK(world.replica(id).why().find("no state has a quorum") != std::string::npos);
    }
    const auto& first = *world.replica(0).went_astray();
    CHECK(world.replica(0).why().find(name_of(first)) != std::string::npos);
  }
  CHECK(are_most(shown, all));
}

}  // namespace piracema::smr_sim
