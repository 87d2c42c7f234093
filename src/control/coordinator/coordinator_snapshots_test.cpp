#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

TEST_CASE("each interval the sources are triggered") {
  World world;
  world.start();
  world.clear();
  world.pass(milliseconds(999));
  CHECK(world.sent<runtime::Trigger>().empty());
  world.pass(milliseconds(1));
  const auto triggers = world.sent<runtime::Trigger>();
  REQUIRE(triggers.size() == 1);
  CHECK(triggers[0].first == world.coordinator->job()->placement[reader]);
  CHECK(triggers[0].second.snapshot == 1);
  CHECK(triggers[0].second.replicas == std::vector<ReplicaId>{reader});
}

TEST_CASE("the interval counts from the beginning of the last snapshot, of which one is taken") {
  World world;
  world.start();
  world.pass(milliseconds(2'500));  // Due at 1,000 and not complete.
  CHECK(world.sent<runtime::Trigger>().size() == 1);
  world.save_all(1);
  CHECK(world.sent<runtime::Trigger>().size() == 1);
  world.tell(SnapshotCommitted{1});
  CHECK(world.sent<runtime::Trigger>().size() == 2);
}

TEST_CASE("without snapshots there is none") {
  JobSettings settings = test_settings();
  settings.snapshots = false;
  World world(settings);
  world.start();
  world.pass(milliseconds(10'000));
  CHECK(world.sent<runtime::Trigger>().empty());
}

TEST_CASE("a snapshot is committed when all have saved, and sinks only after that") {
  World world;
  world.layouts = {"i64", "", "{u64}"};
  world.start();
  world.pass(milliseconds(1'000));
  world.clear();
  world.save_all(1);
  const auto commits = world.done<CommitSnapshot>();
  REQUIRE(commits.size() == 1);
  CHECK(commits[0].manifest.layouts ==
        std::map<std::string, std::string>{{"reader", "i64"}, {"writer", "{u64}"}});
  CHECK(commits[0].manifest.parts.size() == 4);
  CHECK(commits[0].manifest.job == runtime::encode_shape(test_shape()));
  CHECK(world.sent<runtime::Commit>().empty());
  CHECK_FALSE(world.coordinator->metadata().snapshots.newest());

  world.tell(SnapshotCommitted{1});
  const auto sinks = world.sent<runtime::Commit>();
  REQUIRE(sinks.size() == 1);
  CHECK(sinks[0].first == world.coordinator->job()->placement[writer]);
  CHECK(sinks[0].second.replicas == std::vector<ReplicaId>{writer});
  REQUIRE(world.told<SnapshotTaken>().size() == 1);
  CHECK(world.told<SnapshotTaken>()[0].bytes == 40);
  CHECK(world.coordinator->metadata().snapshots.newest() == 1);
}

TEST_CASE("a replica that ends in the middle of a snapshot is asked for it directly") {
  JobSettings settings = test_settings();
  settings.overtake_after.reset();
  World world(settings);
  world.start();
  world.pass(milliseconds(1'000));
  world.say_of(reader, runtime::Saved{1, 1, reader, 10, 0});
  world.clear();
  world.say_of(reader, runtime::Ended{1, reader});
  CHECK(world.sent<runtime::Trigger>().empty());  // It has saved already.
  world.say_of(work_1, runtime::Ended{1, work_1});
  const auto triggers = world.sent<runtime::Trigger>();
  REQUIRE(triggers.size() == 1);
  CHECK(triggers[0].second.replicas == std::vector<ReplicaId>{work_1});
}

TEST_CASE("those that wait for nothing but ends are asked, too, where barriers may overtake") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  CHECK(world.sent<runtime::Trigger>()[0].second.patience == milliseconds(100));
  world.clear();
  world.say_of(reader, runtime::Ended{1, reader});
  std::set<ReplicaId> asked;
  for (const auto& [slot, trigger] : world.sent<runtime::Trigger>()) {
    asked.insert(trigger.replicas.begin(), trigger.replicas.end());
  }
  CHECK(asked == std::set<ReplicaId>{reader, work_0, work_1});
  // The sink waits for one of them still.
  world.clear();
  world.say_of(work_0, runtime::Ended{1, work_0});
  const auto triggers = world.sent<runtime::Trigger>();
  REQUIRE(triggers.size() == 1);
  CHECK(triggers[0].second.replicas == std::vector<ReplicaId>{work_0});
}

TEST_CASE("a replica that has ended is triggered like a source") {
  World world;
  world.start();
  world.say_of(work_0, runtime::Ended{1, work_0});
  world.pass(milliseconds(1'000));
  std::set<ReplicaId> triggered;
  for (const auto& [slot, trigger] : world.sent<runtime::Trigger>()) {
    triggered.insert(trigger.replicas.begin(), trigger.replicas.end());
  }
  CHECK(triggered == std::set<ReplicaId>{reader, work_0});
}

TEST_CASE("a snapshot that cannot be saved is given up, the job goes on with the next number") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  world.clear();
  world.say_of(work_0, runtime::SaveFailed{1, 1, work_0, "no space left"});
  REQUIRE(world.told<SnapshotAborted>().size() == 1);
  CHECK(world.told<SnapshotAborted>()[0].why == "work/0: no space left");
  CHECK(world.done<DropSnapshot>()[0].snapshot == 1);
  CHECK(world.coordinator->phase() == Phase::running);
  world.save_all(1);
  CHECK(world.done<CommitSnapshot>().empty());

  world.take_snapshot(2);
  CHECK(world.coordinator->metadata().snapshots.newest() == 2);
  CHECK(world.done<DropSnapshot>().size() == 2);  // Parts of 1 may have come since.
}

TEST_CASE("a snapshot that takes too long is given up") {
  JobSettings settings = test_settings();
  settings.snapshot_timeout = milliseconds(3'000);
  World world(settings);
  world.start();
  world.pass(milliseconds(4'000));
  REQUIRE(world.told<SnapshotAborted>().size() == 1);
  CHECK(world.told<SnapshotAborted>()[0].why == "not complete within 3000 ms");
  CHECK(world.sent<runtime::Trigger>().size() == 2);
}

TEST_CASE("a manifest that cannot be written fails the snapshot, not the job") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  world.save_all(1);
  world.tell(SnapshotCommitFailed{1, "read-only file system"});
  CHECK(world.told<SnapshotAborted>()[0].why == "read-only file system");
  CHECK(world.sent<runtime::Commit>().empty());
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("a manifest that is being written is waited for longer than a snapshot may take") {
  JobSettings settings = test_settings();
  settings.snapshot_timeout = milliseconds(3'000);
  World world(settings);
  world.start();
  world.pass(milliseconds(1'000));
  world.save_all(1);
  world.pass(milliseconds(10'000));
  CHECK(world.told<SnapshotAborted>().empty());
  world.tell(SnapshotCommitted{1});
  CHECK(world.coordinator->metadata().snapshots.newest() == 1);
}

TEST_CASE("so many snapshots are kept, and never fewer") {
  JobSettings settings = test_settings();
  settings.snapshots_kept = 2;
  World world(settings);
  world.start();
  for (SnapshotId id = 1; id <= 4; ++id) world.take_snapshot(id);
  const auto drops = world.done<DropSnapshot>();
  REQUIRE(drops.size() == 2);
  CHECK(drops[0].snapshot == 1);
  CHECK(drops[1].snapshot == 2);
}

TEST_CASE("what is said of another epoch, snapshot, slot or replica does not count") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  world.clear();
  world.save_all(2);
  world.say_of(reader, runtime::Saved{7, 1, reader, 10, 0});
  world.say_of(reader, runtime::Saved{1, 1, 4711, 10, 0});
  const Slot wrong = 1 - world.coordinator->job()->placement[reader];
  world.say(wrong, runtime::Saved{1, 1, reader, 10, 0});
  for (const ReplicaId replica : {work_0, work_1, writer}) {
    world.say_of(replica, runtime::Saved{1, 1, replica, 10, 0});
  }
  CHECK(world.done<CommitSnapshot>().empty());
  world.tell(SnapshotCommitted{1});
  world.tell(SnapshotCommitFailed{1, "?"});
  CHECK_FALSE(world.coordinator->metadata().snapshots.newest());
  world.say_of(reader, runtime::Saved{1, 1, reader, 10, 0});
  CHECK(world.done<CommitSnapshot>().size() == 1);
}

}  // namespace piracema::cluster
