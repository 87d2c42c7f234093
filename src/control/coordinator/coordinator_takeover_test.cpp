#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

namespace {

void come_back(World& world, Slot slot, Epoch epoch) {
  world.join(slot);
  const auto attaches = world.sent<runtime::Attach>();
  REQUIRE_FALSE(attaches.empty());
  CHECK(attaches.back().first == slot);
  CHECK(attaches.back().second.term == world.log.term);
  world.say(slot, runtime::Attached{world.log.term, epoch});
}

void all_come_back(World& world) {
  for (Slot slot = 0; slot < world.settings.slots; ++slot) {
    come_back(world, slot, world.epoch());
    world.say(slot, runtime::Ready{world.epoch()});
  }
}

}  // namespace

TEST_CASE("each coordinator has a term above those before it") {
  World world;
  CHECK(world.log.term == 1);
  world.start();
  take_over(world);
  CHECK(world.log.term == 2);
  take_over(world);
  CHECK(world.log.term == 3);
}

TEST_CASE("the next coordinator knows the hosts that have come, and where slots belong") {
  World world;
  world.start();
  const HostsOfJob now{{{"h1", "10.0.0.1"}, {"h2", "10.0.0.2"}}, {0, 1}};
  world.tell(HostsListed{now});
  CHECK(world.log.hosts == now);
  world.clear();
  world.tell(HostsListed{now});
  CHECK(world.done<Decide>().empty());
  take_over(world);
  CHECK(world.coordinator->metadata().hosts == now);
}

TEST_CASE("a job whose workers are all still there goes on where it is") {
  World world;
  world.start();
  world.take_snapshot(1);
  take_over(world);
  CHECK(world.coordinator->phase() == Phase::attaching);
  all_come_back(world);
  CHECK(world.coordinator->phase() == Phase::running);
  CHECK(world.epoch() == 1);
  CHECK(world.sent<runtime::Deploy>().empty());
  CHECK(world.done<Spawn>().empty());
  CHECK(world.done<Kill>().empty());
  REQUIRE(world.told<Reattached>().size() == 1);
  CHECK(world.told<Reattached>()[0].term == 2);
  // What the sinks may not have heard they hear once more.
  REQUIRE(world.sent<runtime::Commit>().size() == 1);
  CHECK(world.sent<runtime::Commit>()[0].second.snapshot == 1);
  world.take_snapshot(2);
  CHECK(world.coordinator->metadata().snapshots.newest() == 2);
}

TEST_CASE("the snapshot that was being taken is given up, and its number is not used again") {
  World world;
  world.start();
  world.pass(world.settings.snapshot_interval);
  world.say_of(reader, runtime::Saved{1, 1, reader, 10, 0});
  take_over(world);
  REQUIRE(world.done<DropSnapshot>().size() == 1);
  CHECK(world.done<DropSnapshot>()[0].snapshot == 1);
  all_come_back(world);
  // Some sources may not have heard of it, and others' barriers wait for theirs.
  REQUIRE(world.sent<runtime::Trigger>().size() == 1);
  CHECK(world.sent<runtime::Trigger>()[0].second.snapshot == 1);
  world.save_all(1);
  CHECK(world.done<CommitSnapshot>().empty());
  world.take_snapshot(2);
  CHECK(world.coordinator->metadata().snapshots.newest() == 2);
}

TEST_CASE("a manifest that was being written is written once more") {
  World world;
  world.start();
  world.pass(world.settings.snapshot_interval);
  world.save_all(1);
  const auto before = world.done<CommitSnapshot>();
  REQUIRE(before.size() == 1);
  take_over(world);
  const auto again = world.done<CommitSnapshot>();
  REQUIRE(again.size() == 1);
  CHECK(again[0].manifest == before[0].manifest);
  all_come_back(world);
  CHECK(world.sent<runtime::Commit>().empty());
  world.tell(SnapshotCommitted{1});
  CHECK(world.coordinator->metadata().snapshots.newest() == 1);
  CHECK(world.sent<runtime::Commit>().size() == 1);
}

TEST_CASE("a worker that does not come back is lost, and all others go back to the snapshot") {
  World world;
  world.start();
  world.take_snapshot(1);
  take_over(world);
  come_back(world, 0, 1);
  world.say(0, runtime::Ready{1});
  world.pass(milliseconds(2'000), {1});
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].slot == 1);
  world.exit(1);
  world.join(1);
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.epoch == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore == 1);
}

TEST_CASE(
    "the next coordinator knows whether all were started: outputs without a snapshot are theirs") {
  for (const bool ran : {false, true}) {
    CAPTURE(ran);
    World world;
    if (ran) {
      world.start();
    } else {
      world.join(0);
      world.join(1);
    }
    take_over(world);
    come_back(world, 0, 1);
    world.pass(milliseconds(2'000), {1});
    world.exit(1);
    world.join(1);
    REQUIRE(world.sent<runtime::Deploy>().size() == 2);
    CHECK_FALSE(world.sent<runtime::Deploy>()[1].second.restore);
    CHECK(world.sent<runtime::Deploy>()[1].second.started_before == ran);
  }
}

TEST_CASE("a worker that had not heard of the epoch makes it void") {
  World world;
  world.join(0);
  world.join(1);
  REQUIRE(world.epoch() == 1);
  take_over(world);
  come_back(world, 0, 1);
  come_back(world, 1, 0);  // The Deploy was lost with the coordinator.
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.epoch() == 2);
}

TEST_CASE("who answers another coordinator is not there") {
  World world;
  world.start();
  take_over(world);
  world.join(0);
  world.join(1);
  world.say(0, runtime::Attached{1, 1});
  world.say(1, runtime::Attached{2, 1});
  CHECK(world.coordinator->phase() == Phase::attaching);
  world.say(0, runtime::Attached{2, 1});
  CHECK(world.coordinator->phase() == Phase::restoring);
}

TEST_CASE("what a worker said while there was no coordinator counts when it says it again") {
  World world;
  world.start();
  take_over(world);
  come_back(world, 0, 1);
  world.say(0, runtime::Ready{1});
  come_back(world, 1, 1);
  world.say(1, runtime::Ready{1});
  world.end_all();
  CHECK(world.coordinator->phase() == Phase::ending);

  World failed;
  failed.start();
  take_over(failed);
  come_back(failed, 0, 1);
  const Slot slot = failed.coordinator->job()->placement[work_0];
  if (slot != 0) come_back(failed, slot, 1);
  failed.say_of(work_0, runtime::OperatorFailed{1, work_0, 5, "no such frame"});
  CHECK(failed.coordinator->phase() == Phase::gathering);
}

TEST_CASE("a loss that was decided is gone on with, and what workers say of the epoch is void") {
  World world;
  world.start();
  world.exit(1);
  take_over(world);
  CHECK(world.coordinator->phase() == Phase::gathering);
  come_back(world, 0, 1);
  world.say(0, runtime::Ready{1});
  CHECK(world.sent<runtime::Deploy>().empty());
  world.join(1);
  world.say(1, runtime::Attached{2, 0});
  CHECK(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.epoch() == 2);
}

TEST_CASE("a stop that was accepted is gone on with") {
  World world;
  world.start();
  world.tell(StopRequested{});
  take_over(world);
  all_come_back(world);
  CHECK(world.coordinator->phase() == Phase::stopping);
  world.save_all(2);  // Number 1 was under way.
  world.tell(SnapshotCommitted{2});
  world.commit_writer(2);
  world.exit(0);
  world.exit(1);
  CHECK(world.code() == 75);
}

TEST_CASE("a job that was leaving ends as it was to, whoever comes back") {
  World world;
  world.start();
  world.end_all();
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  world.commit_writer(1);
  REQUIRE(world.coordinator->phase() == Phase::leaving);
  take_over(world);
  CHECK(world.coordinator->phase() == Phase::leaving);
  world.join(0);
  REQUIRE(world.sent<runtime::Shutdown>().size() == 1);
  CHECK(world.sent<runtime::Shutdown>()[0].second.code == 0);
  world.exit(0, "ended with status 0");
  world.pass(milliseconds(5'000), {0, 1});
  CHECK(world.code() == 0);
}

TEST_CASE("the restart budget and the items that are skipped are taken over") {
  JobSettings settings = test_settings();
  settings.dead_letters = true;
  World world(settings);
  world.start();
  for (int i = 0; i < 3; ++i) {
    world.say_of(work_1, runtime::OperatorFailed{world.epoch(), work_1, 4711, "no such frame"});
    world.ready();
    take_over(world);
    all_come_back(world);
    REQUIRE(world.coordinator->phase() == Phase::running);
  }
  CHECK(world.log.skips.size() == 1);
}

}  // namespace piracema::cluster
