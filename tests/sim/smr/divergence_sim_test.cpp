// State machines that are not the same on all replicas.
#include <doctest/doctest.h>

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

std::string name_of(const smr::Divergence::Place& place) {
  return concat("operation ", place.index, " of instance ", place.instance, ": client ");
}

}  // namespace

TEST_CASE("a replica whose machine does one operation otherwise ends, and names that operation") {
  for (const auto seed : runs(30)) {
    for (const auto model : {FaultModel::crash, FaultModel::byzantine}) {
      World world(plan_of(seed, model));
      Replica& astray = world.replica(static_cast<ReplicaId>(seed % 3));
      astray.go_astray_at(1 + seed % 80);
      world.run();
      INFO(world.complaints());
      // With crash faults alone clients believe the first who answers them.
      if (model == FaultModel::byzantine) CHECK(world.complaints() == "");
      REQUIRE(astray.went_astray());
      CAPTURE(astray.why());
      CHECK(astray.why().find("differs from that of a quorum of the others") != std::string::npos);
      CHECK(astray.why().find(name_of(*astray.went_astray())) != std::string::npos);
    }
  }
}

TEST_CASE("where no two replicas agree all of them say so, and where they parted first") {
  for (const auto seed : runs(20)) {
    World world(plan_of(seed, FaultModel::crash));
    for (const ReplicaId id : {0u, 1u, 2u}) world.replica(id).go_astray_at(1 + seed + id);
    world.run();
    for (const ReplicaId id : {0u, 1u, 2u}) {
      CAPTURE(world.replica(id).why());
      CHECK(world.replica(id).why().find("no state has a quorum") != std::string::npos);
    }
    const auto& first = *world.replica(0).went_astray();
    CHECK(world.replica(0).why().find(name_of(first)) != std::string::npos);
  }
}

}  // namespace piracema::smr_sim
