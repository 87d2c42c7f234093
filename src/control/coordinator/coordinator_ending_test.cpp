#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

TEST_CASE("a job that has ended takes a last snapshot, commits, and ends its processes") {
  World world;
  world.start();
  world.clear();
  world.end_all();
  CHECK(world.coordinator->phase() == Phase::ending);
  std::set<ReplicaId> triggered;
  for (const auto& [slot, trigger] : world.sent<runtime::Trigger>()) {
    triggered.insert(trigger.replicas.begin(), trigger.replicas.end());
  }
  CHECK(triggered.size() == 4);  // At once, and all of them.

  world.save_all(1);
  CHECK(world.done<CommitSnapshot>()[0].manifest.finished);
  world.tell(SnapshotCommitted{1});
  CHECK(world.sent<runtime::Commit>().size() == 1);
  CHECK(world.sent<runtime::Shutdown>().empty());

  world.commit_writer(1);
  CHECK(world.sent<runtime::Shutdown>().size() == 2);
  CHECK(world.code() == -1);
  world.exit(0, "ended with status 0");
  world.exit(1, "ended with status 0");
  CHECK(world.code() == 0);
  CHECK_FALSE(world.coordinator->next_deadline());
}

TEST_CASE("without snapshots sinks commit snapshot 0 and the job ends") {
  World world(without_snapshots());
  world.start();
  world.end_all();
  REQUIRE(world.sent<runtime::Commit>().size() == 1);
  CHECK(world.sent<runtime::Commit>()[0].second.snapshot == 0);
  world.commit_writer(0);
  CHECK(world.sent<runtime::Shutdown>().size() == 2);
}

TEST_CASE("an embedded job ends without waiting for a process") {
  JobSettings settings = without_snapshots();
  settings.slots = 1;
  settings.can_spawn = false;
  World world(settings);
  world.start();
  world.end_all();
  world.commit_writer(0);
  CHECK(world.sent<runtime::Shutdown>().size() == 1);
  CHECK(world.code() == 0);
}

TEST_CASE("a snapshot that was on its way when the last replica ended is not the last one") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  world.end_all();
  world.clear();
  world.save_all(1);
  CHECK_FALSE(world.done<CommitSnapshot>()[0].manifest.finished);
  world.tell(SnapshotCommitted{1});
  REQUIRE(world.sent<runtime::Trigger>().size() == 2);
  CHECK(world.sent<runtime::Trigger>()[0].second.snapshot == 2);
  world.save_all(2);
  CHECK(world.done<CommitSnapshot>()[1].manifest.finished);
}

TEST_CASE("a last snapshot that fails is tried again three times, then the job ends without") {
  World world;
  world.start();
  world.end_all();
  for (SnapshotId id = 1; id <= 4; ++id) {
    CHECK(world.code() == -1);
    CHECK(world.sent<runtime::Trigger>().back().second.snapshot == id);
    world.say_of(writer, runtime::SaveFailed{1, id, writer, "no space left"});
    if (id < 4) world.pass(milliseconds(1'000));
  }
  CHECK(world.sent<runtime::Commit>().back().second.snapshot == 4);
  CHECK(world.code() == -1);
  world.commit_writer(4);
  world.exit(0, "ended with status 0");
  world.exit(1, "ended with status 0");
  CHECK(world.code() == 0);
  CHECK(world.why() == "done, although the last snapshot could not be taken");
}

TEST_CASE("failures of a last snapshot that was complete in the end do not count later") {
  World world;
  world.start();
  world.end_all();
  for (SnapshotId id = 1; id <= 3; ++id) {
    world.say_of(writer, runtime::SaveFailed{1, id, writer, "no space left"});
    world.pass(milliseconds(1'000));
  }
  world.save_all(4);
  world.tell(SnapshotCommitted{4});
  world.exit(1);
  world.join(1);
  world.ready();
  world.end_all();
  world.say_of(writer, runtime::SaveFailed{2, 5, writer, "no space left"});
  CHECK(world.code() == -1);
}

TEST_CASE("a worker that is lost while the job ends is a loss like any other") {
  World world;
  world.start();
  world.end_all();
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  world.exit(1);
  world.clear();
  world.join(1);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore == 1);
  // What had ended in the snapshot says so before it is ready.
  world.end_all();
  CHECK(world.coordinator->phase() == Phase::restoring);
  world.ready();
  CHECK(world.coordinator->phase() == Phase::ending);
  world.save_all(2);
  world.tell(SnapshotCommitted{2});
  world.commit_writer(1);
  CHECK(world.sent<runtime::Shutdown>().empty());
  world.commit_writer(2);
  CHECK(world.sent<runtime::Shutdown>().size() == 2);
}

TEST_CASE("a process that does not end is killed after a while") {
  World world(without_snapshots());
  world.start();
  world.end_all();
  world.commit_writer(0);
  world.exit(0, "ended with status 0");
  world.tell(ConnectionLost{1, 0});
  world.clear();
  world.pass(milliseconds(4'999), {0, 1});
  CHECK(world.all.empty());
  world.pass(milliseconds(1), {0, 1});
  REQUIRE(world.done<Kill>().size() == 1);
  CHECK(world.done<Kill>()[0].slot == 1);
  CHECK(world.code() == 0);
}

TEST_CASE("a job that is stopped takes a snapshot, commits it, and ends with code 75") {
  World world;
  world.start();
  world.clear();
  world.tell(StopRequested{});
  CHECK(world.coordinator->phase() == Phase::stopping);
  REQUIRE(world.sent<runtime::Trigger>().size() == 1);
  world.save_all(1);
  CHECK_FALSE(world.done<CommitSnapshot>()[0].manifest.finished);
  world.tell(SnapshotCommitted{1});
  CHECK(world.sent<runtime::Shutdown>().empty());
  world.commit_writer(1);
  CHECK(world.sent<runtime::Shutdown>().size() == 2);
  world.exit(0);
  world.exit(1);
  CHECK(world.code() == 75);
  CHECK(world.why() == "stopped with snapshot 1; go on with --resume");
}

TEST_CASE("a stop in the middle of a snapshot takes another one") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  world.tell(StopRequested{});
  world.clear();
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  world.commit_writer(1);
  REQUIRE(world.sent<runtime::Trigger>().size() == 1);
  CHECK(world.sent<runtime::Trigger>()[0].second.snapshot == 2);
  world.save_all(2);
  world.tell(SnapshotCommitted{2});
  world.commit_writer(2);
  CHECK(world.coordinator->phase() == Phase::leaving);
}

TEST_CASE("a stop whose snapshot fails or takes too long ends with code 1") {
  World failed, late;
  failed.start();
  failed.tell(StopRequested{});
  failed.say_of(writer, runtime::SaveFailed{1, 1, writer, "no space left"});
  CHECK(failed.code() == 1);
  CHECK(failed.why() == "stopped, but the last snapshot failed: writer: no space left");

  late.start();
  late.tell(StopRequested{});
  late.pass(late.settings.snapshot_timeout);
  CHECK(late.code() == 1);
}

TEST_CASE("a stop without snapshots saves nothing and says so") {
  World world(without_snapshots());
  world.start();
  world.tell(StopRequested{});
  world.exit(0);
  world.exit(1);
  CHECK(world.code() == 143);
  CHECK(has(world.why(), "nothing was saved"));
}

TEST_CASE("a stop during a recovery ends with the snapshot that it would go back to") {
  World world;
  world.start();
  world.take_snapshot(1);
  world.exit(1);
  world.tell(StopRequested{});
  world.exit(1, "killed by signal 9");
  world.exit(0);
  CHECK(world.code() == 75);
  CHECK(has(world.why(), "snapshot 1"));
}

TEST_CASE("a worker that is lost while the job stops is not replaced") {
  World world;
  world.start();
  world.take_snapshot(1);
  world.tell(StopRequested{});
  world.clear();
  world.exit(1);
  CHECK(world.done<Spawn>().empty());
  world.exit(0);
  CHECK(world.code() == 75);
}

TEST_CASE("a job that ends by itself while it is stopped has ended") {
  World world;
  world.start();
  world.tell(StopRequested{});
  world.end_all();
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  world.save_all(2);
  world.tell(SnapshotCommitted{2});
  world.commit_writer(2);
  world.exit(0);
  world.exit(1);
  CHECK(world.code() == 0);
}

TEST_CASE("after the end nothing is wanted any more") {
  World world;
  world.start();
  world.join(0, "nonsense");
  world.exit(0, "ended", false);
  world.join(0, "nonsense");
  REQUIRE(world.code() == 3);
  world.clear();
  world.tell(StopRequested{});
  world.tell(Tick{});
  CHECK(world.all.empty());
}

}  // namespace piracema::cluster
