// Processes go to better places while the job runs.
#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

namespace {

bool holds(const World& world) {
  const auto triggers = world.sent<runtime::Trigger>();
  REQUIRE_FALSE(triggers.empty());
  return triggers.back().second.hold;
}

/// Where the wish is to be carried out: all stand at the snapshot.
void save_held(World& world, SnapshotId id) {
  world.pass(world.settings.snapshot_interval);
  CHECK(holds(world));
  world.save_all(id);
}

}  // namespace

TEST_CASE(
    "a process that has a better place goes there with the next snapshot, and nothing is redone") {
  World world;
  world.start();
  world.clear();
  world.tell(MovesWished{{1}});
  CHECK(world.sent<runtime::Trigger>().empty());
  save_held(world, 1);
  CHECK(world.done<Kill>().empty());
  world.tell(SnapshotCommitted{1});
  REQUIRE(world.done<Kill>().size() == 1);
  CHECK(world.done<Kill>()[0].slot == 1);
  CHECK(world.done<Spawn>().empty());  // There is one of a slot at a time.
  world.exit(1);
  REQUIRE(world.done<Spawn>().size() == 1);
  CHECK(world.done<Spawn>()[0].slot == 1);
  CHECK(world.done<Spawn>()[0].incarnation == 1);
  world.join(1);
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore == 1);
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
  CHECK(world.told<Lost>().empty());
  CHECK(world.told<Recovering>().empty());
  REQUIRE(world.told<ProcessesMoved>().size() == 1);
  CHECK(world.told<ProcessesMoved>()[0].slots == std::vector<Slot>{1});
  CHECK(world.told<ProcessesMoved>()[0].snapshot == 1);
  // Once.
  world.take_snapshot(2);
  CHECK_FALSE(holds(world));
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("where places are about to be gone the next snapshot is taken at once") {
  World world;
  world.start();
  world.tell(MovesWished{{1}, true});
  CHECK(holds(world));
  // Told again as long as it is so, which changes nothing.
  world.tell(MovesWished{{1}, true});
  CHECK(world.sent<runtime::Trigger>().back().second.snapshot == 1);
  world.save_all(1);
  SUBCASE("and they move") {
    world.tell(SnapshotCommitted{1});
    REQUIRE(world.done<Kill>().size() == 1);
    CHECK(world.done<Kill>()[0].slot == 1);
  }
  SUBCASE("but not again and again where none can be taken") {
    world.tell(SnapshotCommitFailed{1, "no room"});
    CHECK(world.sent<runtime::Trigger>().back().second.snapshot == 2);
    CHECK_FALSE(holds(world));
    CHECK(world.done<Kill>().empty());
  }
}

TEST_CASE("a wish that is taken back, or comes to nothing, holds nobody up") {
  World world;
  world.start();
  SUBCASE("before the snapshot") {
    world.tell(MovesWished{{1}});
    world.tell(MovesWished{});
    world.take_snapshot(1);
    CHECK_FALSE(holds(world));
  }
  SUBCASE("of a worker that there is not") {
    world.tell(MovesWished{{2}});
    world.take_snapshot(1);
    CHECK_FALSE(holds(world));
  }
  SUBCASE("while the snapshot is taken: the next one lets sources go on at once") {
    world.tell(MovesWished{{1}});
    save_held(world, 1);
    world.tell(MovesWished{});
    world.tell(SnapshotCommitted{1});
    CHECK_FALSE(holds(world));
    CHECK(world.sent<runtime::Trigger>().back().second.snapshot == 2);
  }
  CHECK(world.done<Kill>().empty());
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("after a snapshot that failed sources go on, and the next complete one is waited for") {
  World world;
  world.start();
  world.tell(MovesWished{{0}});
  save_held(world, 1);
  world.tell(SnapshotCommitFailed{1, "no room"});
  CHECK_FALSE(holds(world));
  CHECK(world.sent<runtime::Trigger>().back().second.snapshot == 2);
  world.save_all(2);
  world.tell(SnapshotCommitted{2});
  CHECK(world.done<Kill>().empty());
  save_held(world, 3);
  world.tell(SnapshotCommitted{3});
  CHECK(world.done<Kill>().size() == 1);
}

TEST_CASE("a process that is lost before it could move is not moved once more") {
  World world;
  world.start();
  world.take_snapshot(1);
  world.tell(MovesWished{{0, 1}, true});
  CHECK(holds(world));
  world.exit(1);
  world.join(1);
  world.clear();
  world.ready();
  CHECK(holds(world));
  world.save_all(3);
  world.tell(SnapshotCommitted{3});
  REQUIRE(world.done<Kill>().size() == 1);
  CHECK(world.done<Kill>()[0].slot == 0);
}

TEST_CASE("a loss in the middle of a move goes back to the snapshot that all stood at") {
  World world;
  world.start();
  world.tell(MovesWished{{1}});
  save_held(world, 1);
  world.tell(SnapshotCommitted{1});
  world.exit(0);
  world.exit(1);
  world.clear();
  world.join(0);
  world.join(1);
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore == 1);
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("a job that is taken over in the middle of a move lets its sources go on") {
  World world;
  world.start();
  world.tell(MovesWished{{1}});
  save_held(world, 1);
  world.clear();
  world.coordinator.emplace(world.log);
  world.tell(Tick{});
  for (Slot slot = 0; slot < 2; ++slot) {
    world.join(slot);
    world.say(slot, runtime::Attached{world.log.term, world.epoch()});
  }
  world.ready();
  world.tell(SnapshotCommitted{1});
  REQUIRE(world.coordinator->phase() == Phase::running);
  CHECK(world.done<Kill>().empty());
  CHECK_FALSE(holds(world));
}

TEST_CASE("a job that cannot start processes, or takes no snapshots, moves none") {
  JobSettings settings = test_settings();
  SUBCASE("no snapshots") { settings.snapshots = false; }
  SUBCASE("one process") {
    settings.slots = 1;
    settings.can_spawn = false;
  }
  World world(settings);
  world.start();
  world.tell(MovesWished{{0, 1}});
  world.pass(settings.snapshot_interval);
  CHECK(world.coordinator->phase() == Phase::running);
  for (const auto& [slot, trigger] : world.sent<runtime::Trigger>()) CHECK_FALSE(trigger.hold);
}

}  // namespace piracema::cluster
