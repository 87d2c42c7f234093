#include "control/coordinator/snapshots/snapshot_schedule.h"

#include "control/coordinator/parts_testing.h"

namespace piracema::cluster {

namespace {

struct ScheduledJob : PlannedParts {
  ScheduledJob() {
    begin_epoch();
    schedule.plan(now + interval());
  }

  Time interval() const { return journal.settings().snapshot_interval; }
  /// What the snapshot is for that is taken now; nothing if none is.
  std::optional<SnapshotPurpose> taken(Phase phase = Phase::running) {
    if (!snapshots.under_way()) schedule.take_due(*job, phase, now);
    if (!snapshots.under_way()) return std::nullopt;
    return purpose_of_last = snapshots.give_up("the test has seen it", false);
  }
  /// The one that was taken has failed.
  void fail() {
    schedule.failed(journal.metadata().snapshots.next_id() - 1, *purpose_of_last, "disk full", now);
  }
  void ask_for_savepoint() {
    REQUIRE(savepoint.begin({.name = "release"}, now).accepted);
    journal.take();
  }
  /// To one process more, of which all are there.
  void ask_for_process() {
    REQUIRE(rescaling.begin(*job, {{}, 3}, now).accepted);
    members.spawn(now);
    members[2].join("address");
    journal.take();
  }

  std::optional<SnapshotPurpose> purpose_of_last;
  SnapshotCoordinator snapshots{journal, members};
  Rescaling rescaling{journal, members, detector};
  SavepointTaking savepoint{journal};
  Moves moves;
  SnapshotSchedule schedule{journal, snapshots, rescaling, savepoint, moves};
};

using Purpose = SnapshotPurpose;

}  // namespace

TEST_CASE("a snapshot is taken each interval, and none sooner") {
  ScheduledJob world;
  CHECK_FALSE(world.taken());
  CHECK(world.schedule.next_deadline(Phase::running) == world.now + world.interval());
  world.now += world.interval();
  CHECK(world.taken() == Purpose::interval);
  CHECK_FALSE(world.taken());
  world.now += world.interval();
  CHECK(world.taken() == Purpose::interval);
}

TEST_CASE("one that is overdue waits until work has begun again") {
  ScheduledJob world;
  const Time due = world.now + world.interval();
  world.schedule.put_off_until(due + Time{1});
  world.now = due;
  CHECK_FALSE(world.taken());
  world.now += Time{1};
  CHECK(world.taken() == Purpose::interval);
  world.schedule.put_off_until(world.now);  // The next interval is later.
  CHECK_FALSE(world.taken());
}

TEST_CASE("while one is under way only its lateness is waited for") {
  ScheduledJob world;
  world.now += world.interval();
  world.schedule.take_due(*world.job, Phase::running, world.now);
  REQUIRE(world.snapshots.under_way());
  CHECK(world.schedule.next_deadline(Phase::running) ==
        world.now + world.journal.settings().snapshot_timeout);
}

TEST_CASE("a job that stops takes its last snapshot at once, one that ends when that is due") {
  ScheduledJob world;
  CHECK(world.taken(Phase::stopping) == Purpose::stop);
  CHECK_FALSE(world.schedule.next_deadline(Phase::stopping));
  CHECK_FALSE(world.taken(Phase::ending));
  world.schedule.plan(world.now);
  CHECK(world.taken(Phase::ending) == Purpose::final);
}

TEST_CASE("a savepoint does not wait for the interval, and a failed snapshot fails it") {
  ScheduledJob world;
  world.ask_for_savepoint();
  REQUIRE(world.taken() == Purpose::savepoint);
  world.journal.take();
  world.fail();
  const auto ended = world.told<SavepointEnded>();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].why == "its snapshot failed: disk full");
  CHECK_FALSE(world.taken());
}

TEST_CASE("processes that move wait for the interval, unless their places are about to be gone") {
  ScheduledJob world;
  world.moves.wish({1}, false);
  CHECK_FALSE(world.taken());
  world.moves.wish({1}, true);
  CHECK(world.taken() == Purpose::move);
}

TEST_CASE("sources that wait behind a snapshot that failed get another one at once") {
  ScheduledJob world;
  world.moves.wish({1}, true);
  REQUIRE(world.taken() == Purpose::move);
  world.fail();
  // Which is for nobody: those that move wait until one is complete.
  CHECK_FALSE(world.schedule.may_move(Phase::running));
  CHECK(world.taken() == Purpose::interval);
  world.moves.completed();
  CHECK(world.taken() == Purpose::move);
}

TEST_CASE("processes do not move while the plan changes") {
  ScheduledJob world;
  world.moves.wish({1}, true);
  CHECK(world.schedule.may_move(Phase::running));
  CHECK_FALSE(world.schedule.may_move(Phase::restoring));
  world.ask_for_process();
  CHECK_FALSE(world.schedule.may_move(Phase::running));
  CHECK(world.taken() == Purpose::scale);
}

TEST_CASE("another plan whose snapshots fail is given up, and each time sources go on at once") {
  ScheduledJob world;
  world.ask_for_process();
  int failures = 0;
  while (world.rescaling.under_way()) {
    REQUIRE(++failures < 10);
    REQUIRE(world.taken() == Purpose::scale);
    world.fail();
  }
  const auto ended = world.told<ScaleEnded>();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].why == "its snapshot failed: disk full");
  CHECK(world.taken() == Purpose::interval);
}

TEST_CASE("another plan that is given up lets sources go on at once") {
  ScheduledJob world;
  world.schedule.give_up_scale("the job was asked to stop", world.now);
  CHECK_FALSE(world.taken());  // There was none.
  world.ask_for_process();
  world.schedule.give_up_scale("the job was asked to stop", world.now);
  CHECK(world.taken() == Purpose::interval);
}

}  // namespace piracema::cluster
