#include <doctest/doctest.h>

#include "sim/seeds.h"
#include "sim/smr/mutants.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using smr::FaultModel;

namespace {

/// Returns at how many places a checkpoint was not worth it.
std::size_t check(const Plan& plan) {
  World world(plan);
  const bool fine = world.run();
  INFO(world.complaints());
  CHECK(fine);
  return world.oracle().skipped_checkpoints();
}

}  // namespace

TEST_CASE("where nothing goes wrong every request is answered, once and in order") {
  for (const auto seed : runs(200)) {
    check(calm(seed, FaultModel::crash));
    check(calm(seed, FaultModel::byzantine));
  }
}

// Nobody asks for anything any more; the leader has to see to it.
namespace {

bool leases_end_where_nobody_asks(std::uint64_t seed, FaultModel model) {
  Plan plan = calm(seed, model);
  plan.locks = true;
  plan.outstanding = 1;
  plan.operations = 20;
  plan.reads = 0;
  plan.trouble_until = std::chrono::seconds(12);
  World world(plan);
  world.at(std::chrono::seconds(4),
           [&world] { world.crash(world.replica(0).core().leader(), std::chrono::seconds(1)); });
  world.at(std::chrono::milliseconds(11'900), [&world] {
    for (smr::ReplicaId id = 0; id < world.replicas(); ++id) {
      if (!world.replica(id).timer()) continue;
      world.oracle().complain("a lease does not end");
    }
  });
  return world.run();
}

}  // namespace

TEST_CASE("leases of a group that nobody asks for anything end") {
  for (const auto seed : runs(20)) {
    CHECK(leases_end_where_nobody_asks(seed, FaultModel::crash));
    CHECK(leases_end_where_nobody_asks(seed, FaultModel::byzantine));
  }
  const Mutant on("no_ticks");
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 8 && !found; ++seed) {
    found = !leases_end_where_nobody_asks(seed, FaultModel::crash);
  }
  CHECK(found);
}

TEST_CASE("messages that are lost, late, doubled and out of order cost time alone") {
  for (const auto seed : runs(300)) {
    check(lossy(seed, FaultModel::crash));
    check(lossy(seed, FaultModel::byzantine));
  }
}

TEST_CASE("whatever happens to replicas, clocks, disks and wires, nothing is lost or done twice") {
  std::size_t skipped = 0;
  for (const auto seed : runs(150)) {
    skipped += check(troubled(seed, FaultModel::crash));
    skipped += check(troubled(seed, FaultModel::byzantine));
  }
  CHECK(skipped > 0);
}

TEST_CASE("clients whose connections end again and again get their answers, each once") {
  for (const auto seed : runs(60)) {
    for (const auto model : {FaultModel::crash, FaultModel::byzantine}) {
      Plan plan = seed % 2 == 0 ? calm(seed, model) : lossy(seed, model);
      plan.trouble_until = std::chrono::seconds(4);
      plan.think = std::chrono::milliseconds(30);
      plan.cut_link = std::chrono::milliseconds(20);
      check(plan);
    }
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
