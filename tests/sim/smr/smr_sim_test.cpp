#include <doctest/doctest.h>

#include "sim/seeds.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using smr::FaultModel;

namespace {

void check(const Plan& plan) {
  World world(plan);
  const bool fine = world.run();
  INFO(world.complaints());
  CHECK(fine);
}

}  // namespace

TEST_CASE("where nothing goes wrong every request is answered, once and in order") {
  for (const auto seed : runs(200)) {
    check(calm(seed, FaultModel::crash));
    check(calm(seed, FaultModel::byzantine));
  }
}

TEST_CASE("messages that are lost, late, doubled and out of order cost time alone") {
  for (const auto seed : runs(300)) {
    check(lossy(seed, FaultModel::crash));
    check(lossy(seed, FaultModel::byzantine));
  }
}

TEST_CASE("whatever happens to replicas, clocks, disks and wires, nothing is lost or done twice") {
  for (const auto seed : runs(150)) {
    check(troubled(seed, FaultModel::crash));
    check(troubled(seed, FaultModel::byzantine));
  }
}

TEST_CASE("disks that rot, misplace, refuse and are full take nothing that was promised") {
  for (const auto seed : runs(100)) {
    check(rotten(seed, FaultModel::crash));
    check(rotten(seed, FaultModel::byzantine));
  }
}

TEST_CASE("members come, go and are replaced while all goes on") {
  for (const auto seed : runs(60)) {
    check(moving(seed, FaultModel::crash));
    check(moving(seed, FaultModel::byzantine));
  }
}

TEST_CASE("a client whose session had to go learns of it, and nothing is done twice") {
  for (const auto seed : runs(20)) {
    check(crowded(seed, FaultModel::crash));
    check(crowded(seed, FaultModel::byzantine));
  }
}

TEST_CASE("a lock of the key-value map is one client's at a time, and its tokens only grow") {
  std::size_t acquired = 0;
  for (const auto seed : runs(30)) {
    for (const auto model : {FaultModel::crash, FaultModel::byzantine}) {
      World world(locking(seed, model));
      const bool fine = world.run();
      INFO(world.complaints());
      CHECK(fine);
      acquired += world.locks().acquisitions();
    }
  }
  CHECK((acquired > 0 || sim::tracing()));
}

TEST_CASE("what is kept until a checkpoint is stable is bounded, however long that takes") {
  for (const auto seed : runs(30)) {
    check(hoarding(seed, FaultModel::crash));
    check(hoarding(seed, FaultModel::byzantine));
  }
}

TEST_CASE("the same seed makes the same run of a whole cluster") {
  const auto run = [](std::uint64_t seed) {
    World world(troubled(seed, FaultModel::byzantine));
    world.run();
    return std::tuple(world.now(), world.messages(), world.oracle().newest());
  };
  for (const auto seed : runs(10)) CHECK(run(seed) == run(seed));
}

}  // namespace piracema::smr_sim
