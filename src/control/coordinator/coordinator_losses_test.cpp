#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

TEST_CASE("a worker that is killed is replaced and all go back to the last snapshot") {
  World world;
  world.start();
  world.take_snapshot(1);
  world.clear();

  world.exit(1);
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].how == "its process ended: killed by signal 9 (SIGKILL)");
  CHECK(world.told<Lost>()[0].cause == LossCause::process_ended);
  CHECK(has(world.told<Lost>()[0].replicas, "writer"));
  REQUIRE(world.done<Spawn>().size() == 1);  // At once.
  CHECK(world.done<Spawn>()[0].incarnation == 1);
  CHECK(world.sent<runtime::Deploy>().empty());  // Its address is not known.

  world.join(1);
  const auto deploys = world.sent<runtime::Deploy>();
  REQUIRE(deploys.size() == 2);
  CHECK(deploys[0].second.epoch == 2);
  CHECK(deploys[0].second.restore == 1);
  CHECK(deploys[0].second.peers[1].incarnation == 1);
  CHECK(deploys[0].second.may_live.empty());

  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("before the first snapshot all go back to the beginning") {
  World world;
  world.start();
  world.exit(0);
  world.clear();
  world.join(0);
  CHECK_FALSE(world.sent<runtime::Deploy>()[0].second.restore);
}

TEST_CASE("a worker whose connection ends is killed, and replaced once it is gone") {
  World world;
  world.start();
  world.clear();
  world.tell(ConnectionLost{1, 0});
  REQUIRE(world.done<Kill>().size() == 1);
  CHECK(world.done<Kill>()[0].slot == 1);
  CHECK(world.done<Spawn>().empty());
  world.tell(ConnectionLost{1, 0});
  CHECK(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].cause == LossCause::connection_ended);
  world.exit(1);
  CHECK(world.done<Spawn>().size() == 1);
  CHECK(world.told<Lost>().size() == 1);
}

TEST_CASE(
    "a process that cannot be ended is replaced, its slot marked, and sent away if it wakes") {
  World world;
  world.start();
  world.tell(ConnectionLost{1, 0});
  world.clear();
  world.pass(milliseconds(199), {1});
  CHECK(world.done<Spawn>().empty());
  world.pass(milliseconds(1), {1});
  REQUIRE(world.done<Spawn>().size() == 1);
  world.join(1);
  CHECK(world.sent<runtime::Deploy>()[0].second.may_live == std::vector<Slot>{1});

  world.clear();
  world.tell(Said{1, 0, runtime::Heartbeat{1, 0, {}}});  // It wakes.
  REQUIRE(world.done<Send>().size() == 1);
  CHECK(world.done<Send>()[0].incarnation == 0);
  CHECK(world.sent<runtime::Shutdown>()[0].second.code == 1);

  world.tell(Exited{1, 0, false, true, "killed", {}});  // At last.
  world.exit(0);
  world.clear();
  world.join(0);
  CHECK(world.sent<runtime::Deploy>()[0].second.may_live.empty());
}

TEST_CASE("a worker that is silent for too long is replaced, one that speaks is not") {
  World world;
  world.start();
  world.clear();
  world.pass(milliseconds(1'249), {1});
  CHECK(world.told<Lost>().empty());
  world.pass(milliseconds(1), {1});
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].slot == 1);
  CHECK(world.told<Lost>()[0].how == "no heartbeat for 1250 ms");
  CHECK(world.told<Lost>()[0].cause == LossCause::silent);
  CHECK(world.done<Kill>().size() == 1);
}

TEST_CASE("a survivor that gets on with its state is waited for, one that does not is replaced") {
  World world;
  world.start();
  world.exit(1);
  world.join(1);
  world.say(1, runtime::Ready{2});
  world.clear();
  for (std::uint64_t bytes = 1; bytes <= 100; ++bytes) {
    world.say(0, runtime::Restoring{2, 0, bytes});
    world.pass(milliseconds(20'000));
  }
  CHECK(world.told<Lost>().empty());

  world.say(0, runtime::Restoring{2, 0, 101});
  for (int i = 0; i < 29; ++i) {
    world.say(0, runtime::Restoring{2, 0, 101});
    world.pass(milliseconds(1'000));
  }
  CHECK(world.told<Lost>().empty());
  world.pass(milliseconds(1'100));
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].slot == 0);
  CHECK(world.told<Lost>()[0].how == "it did not get on with loading its state for 30000 ms");
  CHECK(world.told<Lost>()[0].cause == LossCause::stuck);
}

TEST_CASE("an operator that does not return to load its state has a second, whatever others load") {
  World world;
  world.start();
  world.exit(1);
  world.join(1);
  world.say(1, runtime::Ready{2});
  world.clear();
  for (std::uint64_t bytes = 1; bytes <= 10; ++bytes) {
    world.say(0, runtime::Restoring{2, 1, bytes});
    world.pass(milliseconds(900));
  }
  CHECK(world.told<Lost>().empty());
  world.say(0, runtime::Restoring{2, 1, 10});
  world.pass(milliseconds(200));
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].how == "an operator did not return within 1000 ms to load its state");
}

TEST_CASE("a coordinator that did not run itself does not blame the workers, but not for ever") {
  World world;
  world.start();
  world.clear();
  world.now += std::chrono::seconds(10);
  world.tell(Tick{});
  CHECK(world.told<Lost>().empty());
  CHECK(*world.coordinator->next_deadline() <= world.now + world.settings.snapshot_timeout);
  world.say(0, runtime::Heartbeat{1, 0, {}});
  world.pass(milliseconds(1'250), {1});
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].slot == 1);
}

TEST_CASE("a second loss during a recovery starts over with a higher epoch") {
  World world;
  world.start();
  world.exit(1);
  world.join(1);
  REQUIRE(world.epoch() == 2);
  world.say(0, runtime::Ready{2});
  world.exit(0);
  world.clear();
  world.say(1, runtime::Ready{2});
  CHECK(world.coordinator->phase() != Phase::running);
  world.join(0);
  CHECK(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.epoch() == 3);
  world.say(0, runtime::Ready{2});  // Of old.
  world.say(1, runtime::Ready{3});
  CHECK(world.coordinator->phase() != Phase::running);
  world.say(0, runtime::Ready{3});
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("a recovery waits to hear whether the snapshot that was being written is complete") {
  bool complete = false;
  SUBCASE("it is") { complete = true; }
  SUBCASE("it is not") {}
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  world.save_all(1);
  REQUIRE(world.done<CommitSnapshot>().size() == 1);
  world.exit(1);
  world.join(1);
  CHECK(world.epoch() == 1);
  world.clear();
  if (complete) {
    world.tell(SnapshotCommitted{1});
    CHECK(world.sent<runtime::Commit>().empty());  // Sinks are told by the Deploy.
  } else {
    world.tell(SnapshotCommitFailed{1, "disk full"});
  }
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore.has_value() == complete);
}

TEST_CASE("a recovery whose snapshot is gone ends the job, which says where it was") {
  World world;
  world.start();
  world.take_snapshot(1);
  world.snapshots_stay = false;
  world.clear();
  world.exit(1);
  REQUIRE(world.done<FindSnapshot>().size() == 1);
  CHECK(world.done<FindSnapshot>()[0].snapshot == 1);
  world.join(1);
  CHECK(world.epoch() == 1);  // Nobody is sent back before it is found.
  world.tell(SnapshotGone{"/snapshots: want a snapshot directory, found nothing"});
  CHECK(world.code() == 4);
  CHECK(world.why() ==
        "worker 1 was lost, and there is nothing to go back to: /snapshots: want a snapshot "
        "directory, found nothing");
}

TEST_CASE("a recovery to the beginning wants its store as well") {
  World world;
  world.start();
  world.snapshots_stay = false;
  world.clear();
  world.exit(1);
  REQUIRE(world.done<FindSnapshot>().size() == 1);
  CHECK_FALSE(world.done<FindSnapshot>()[0].snapshot);
  world.tell(SnapshotGone{"/snapshots: want a snapshot directory, found nothing"});
  CHECK(world.code() == 4);
}

TEST_CASE("a second loss before the snapshot is found asks for it once") {
  World world;
  world.start();
  world.take_snapshot(1);
  world.snapshots_stay = false;
  world.clear();
  world.exit(1);
  world.exit(0);
  CHECK(world.done<FindSnapshot>().size() == 1);
  world.join(0);
  world.join(1);
  CHECK(world.epoch() == 1);
  world.tell(SnapshotFound{});
  CHECK(world.epoch() == 2);
}

TEST_CASE("a snapshot that was not saved by all is given up with the worker") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  world.say_of(reader, runtime::Saved{1, 1, reader, 10, 0});
  world.clear();
  world.exit(1);
  CHECK(world.told<SnapshotAborted>()[0].why == "worker 1 was lost");
  world.join(1);
  world.ready();
  world.save_all(1);
  CHECK(world.done<CommitSnapshot>().empty());
  world.take_snapshot(2);
  CHECK(world.coordinator->metadata().snapshots.newest() == 2);
}

TEST_CASE("a survivor that does not roll back in time is replaced") {
  World world;
  world.start();
  world.exit(1);
  world.join(1);
  world.say(1, runtime::Ready{2});
  world.clear();
  world.pass(milliseconds(999));
  CHECK(world.told<Lost>().empty());
  world.pass(milliseconds(1));
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].slot == 0);
}

TEST_CASE("a replacement has as long to load its state as a process has to join") {
  World world;
  world.start();
  world.exit(1);
  world.join(1);
  world.say(0, runtime::Ready{2});
  world.clear();
  world.pass(milliseconds(29'999));
  CHECK(world.told<Lost>().empty());
  world.pass(milliseconds(1));
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].slot == 1);
}

TEST_CASE("a survivor that waits for a frozen peer is not blamed for it") {
  World world;
  world.start();
  world.exit(1);
  world.join(1);
  world.clear();
  world.pass(milliseconds(1'300), {1});  // The new one froze before it was ready.
  REQUIRE(world.told<Lost>().size() == 1);
  CHECK(world.told<Lost>()[0].slot == 1);
}

TEST_CASE("the times that a recovery may take grow while none succeeds") {
  World world;
  world.start();
  const auto fail_once = [&] {
    world.exit(1);
    world.join(1);
    world.say(1, runtime::Ready{world.epoch()});
  };
  fail_once();
  fail_once();
  fail_once();
  world.clear();
  world.pass(milliseconds(3'999));
  CHECK(world.told<Lost>().empty());
  world.pass(milliseconds(1));
  CHECK(world.told<Lost>().size() == 1);
}

TEST_CASE("a job that never gets anywhere is given up") {
  JobSettings settings = test_settings();
  settings.fruitless_recoveries_max = 3;
  World world(settings);
  world.start();
  for (int i = 0; i < 3; ++i) {
    world.exit(1);
    world.join(1);
    world.ready();
    CHECK(world.code() == -1);
  }
  world.exit(1);
  CHECK(world.code() == 4);
  CHECK(has(world.why(), "given up after 3 recoveries in a row"));
}

TEST_CASE("an item or a snapshot shows that the job gets on") {
  JobSettings settings = test_settings();
  settings.fruitless_recoveries_max = 1;
  World world(settings);
  world.start();
  for (int i = 0; i < 5; ++i) {
    world.exit(1);
    world.join(1);
    world.ready();
    world.say_of(writer, runtime::FirstOutput{world.epoch(), writer});
    world.say_of(writer, runtime::FirstOutput{world.epoch(), writer});
  }
  CHECK(world.code() == -1);
  CHECK(world.told<FirstItemOut>().size() == 5);
}

TEST_CASE("items that come out before all are ready do not take the others' time from them") {
  World world;
  world.start();
  world.exit(1);
  world.join(1);
  // Each is at an item of 3 s whenever the other one has just been replaced.
  int replaced = 0;
  for (Slot busy = 0; replaced < 10; busy = 1 - busy, ++replaced) {
    world.say_of(writer, runtime::FirstOutput{world.epoch(), writer});
    world.say(1 - busy, runtime::Ready{world.epoch()});
    world.clear();
    world.pass(milliseconds(3'000));
    if (world.told<Lost>().empty()) break;
    CHECK(world.told<Lost>()[0].slot == busy);
    world.exit(busy);
    world.join(busy);
  }
  CHECK(replaced == 2);
  world.ready();
  CHECK(world.coordinator->metadata().fruitless == 0);
}

TEST_CASE(
    "a process that cannot be started is tried less and less often, and given up in the end") {
  JobSettings settings = test_settings();
  settings.fruitless_recoveries_max = 5;
  World world(settings);
  world.start();
  world.exit(1);
  world.clear();
  const Time begun = world.now;
  while (world.code() == -1 && world.now < begun + std::chrono::minutes(1)) {
    if (world.coordinator->phase() == Phase::gathering && !world.done<Spawn>().empty()) {
      world.clear();
      world.exit(1, "could not be started", false);
    }
    world.pass(milliseconds(10), {1});
  }
  CHECK(world.code() == 4);
  CHECK(world.now - begun > milliseconds(300));
  CHECK(has(world.why(), "could not be started 6 times in a row"));
}

TEST_CASE("without snapshots a lost worker ends the job with code 4 and says how it was lost") {
  JobSettings settings = test_settings();
  settings.snapshots = false;
  World world(settings);
  world.start();
  world.tell(ConnectionLost{1, 0});
  CHECK(world.code() == -1);
  world.exit(1, "killed by signal 9 (SIGKILL)");
  CHECK(world.code() == 4);
  CHECK(world.why() == "worker 1 (" + world.coordinator->job()->names_on(1) +
                           ") was lost: its connection ended; its process ended: killed by signal "
                           "9 (SIGKILL); start with --snapshots DIR to go on after a loss");
}

TEST_CASE("what is redone is counted from what the sources had sent before the barrier") {
  World world;
  world.start();
  const auto beat = [&](std::uint64_t items) {
    world.say_of(reader,
                 runtime::Heartbeat{world.epoch(), 0, {{.replica = reader, .items_out = items}}});
  };
  beat(70);
  world.pass(world.settings.snapshot_interval);
  world.say_of(reader, runtime::Saved{world.epoch(), 1, reader, 10, 0, 100});
  CHECK(world.coordinator->items_emitted() == 100);
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  beat(130);
  world.exit(1);
  world.join(1);
  CHECK(world.told<Recovering>()[0].redone == 30);
  CHECK(world.coordinator->items_emitted() == 100);
  world.ready();
  beat(50);
  CHECK(world.coordinator->items_emitted() == 150);
}

}  // namespace piracema::cluster
