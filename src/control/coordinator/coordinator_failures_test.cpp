#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

namespace {

void fail_at(World& world, ReplicaId replica, std::optional<std::uint64_t> item) {
  world.say_of(replica, runtime::OperatorFailed{world.epoch(), replica, item, "no such frame"});
}

// The process around work/1, writer; both are at work, the writer not always on the same item.
void crash_at(World& world, std::uint64_t item, std::uint64_t written) {
  const Slot slot = world.coordinator->job()->placement[work_1];
  world.exit(slot, "killed by signal 11 (SIGSEGV)", false, {{writer, written}, {work_1, item}});
  if (world.code() != -1) return;
  world.join(slot);
  world.ready();
}

}  // namespace

TEST_CASE("an operator that throws is rolled back in its process") {
  World world;
  world.start();
  world.clear();
  fail_at(world, work_1, 4711);
  REQUIRE(world.told<ReplicaFailed>().size() == 1);
  CHECK(world.told<ReplicaFailed>()[0].name == "work/1");
  CHECK(world.done<Kill>().empty());
  CHECK(world.done<Spawn>().empty());
  CHECK(world.sent<runtime::Deploy>().size() == 2);
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("one failure is one recovery, however many replicas tell of it") {
  World world;
  world.start();
  const Epoch before = world.epoch();
  const Slot slot = world.coordinator->job()->placement[work_0];
  world.say(slot, runtime::OperatorFailed{before, work_0, 1, "x"});
  world.say(slot, runtime::OperatorFailed{before, work_0, 2, "x"});
  CHECK(world.epoch() == before + 1);
}

TEST_CASE("an item that fails again and again ends the job, which names operator and item") {
  World world;
  world.start();
  for (int i = 0; i < 2; ++i) {
    fail_at(world, work_1, 4711);
    CHECK(world.code() == -1);
    world.ready();
  }
  fail_at(world, work_1, 4711);
  CHECK(world.code() == 1);
  CHECK(world.why() ==
        "work/1 failed 3 times at or near item 4711: no such frame; with a dead-letter file "
        "it would be passed by");
}

TEST_CASE("without snapshots the first failure ends the job") {
  JobSettings settings = test_settings();
  settings.snapshots = false;
  World world(settings);
  world.start();
  fail_at(world, work_1, 4711);
  CHECK(world.code() == 1);
  CHECK(world.why() == "operator work/1 failed at item 4711: no such frame");
}

TEST_CASE("an embedded job rolls back in place too") {
  JobSettings settings = test_settings();
  settings.slots = 1;
  settings.can_spawn = false;
  World world(settings);
  world.start();
  fail_at(world, work_0, 5);
  CHECK(world.sent<runtime::Deploy>().size() == 2);
  world.pass(milliseconds(100'000), {0});  // It has all the time it needs.
  CHECK(world.code() == -1);
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("with a dead-letter file the item is skipped in every Deploy that follows") {
  JobSettings settings = test_settings();
  settings.dead_letters = true;
  World world(settings);
  world.start();
  for (int i = 0; i < 3; ++i) {
    fail_at(world, work_1, 4711);
    world.ready();
  }
  CHECK(world.code() == -1);
  REQUIRE(world.told<ItemSkipped>().size() == 1);
  CHECK(world.told<ItemSkipped>()[0].item == 4711);
  const auto deploys = world.sent<runtime::Deploy>();
  REQUIRE(deploys.back().second.skips.size() == 1);
  CHECK(deploys.back().second.skips[0].node == 1);
  CHECK(deploys[deploys.size() - 3].second.skips.empty());
  for (int i = 0; i < 2; ++i) {
    fail_at(world, work_1, 4712);
    world.ready();
  }
  CHECK(world.code() == -1);  // The count began anew.
}

TEST_CASE("a job that cannot begin fails at once, with snapshots too") {
  World world;
  for (Slot slot = 0; slot < world.settings.slots; ++slot) world.join(slot);
  fail_at(world, work_1, std::nullopt);
  CHECK(world.code() == 1);
  CHECK(world.why() == "operator work/1 failed: no such frame");
}

TEST_CASE("a failure on no item cannot be skipped") {
  JobSettings settings = test_settings();
  settings.dead_letters = true;
  World world(settings);
  world.start();
  for (int i = 0; i < 3; ++i) {
    fail_at(world, work_1, std::nullopt);
    world.ready();
  }
  CHECK(world.code() == 1);
  CHECK(has(world.why(), "work/1 failed 3 times: no such frame"));
}

TEST_CASE("a process that crashes again and again names the replica that was at the same item") {
  World world;
  world.start();
  crash_at(world, 4711, 4700);
  crash_at(world, 4711, 4702);
  CHECK(world.code() == -1);
  crash_at(world, 4711, 4705);
  CHECK(world.code() == 1);
  CHECK(has(world.why(), "work/1 failed 3 times at or near item 4711: killed by signal 11"));
}

TEST_CASE("a crash that is noticed by the connection first counts as well") {
  World world;
  world.start();
  const Slot slot = world.coordinator->job()->placement[work_1];
  for (int i = 0; i < 3; ++i) {
    world.tell(ConnectionLost{slot, world.incarnations[slot]});
    crash_at(world, 4711, 4711);
  }
  CHECK(world.code() == 1);
}

TEST_CASE("an item that silences its process again and again is named") {
  World world;
  world.start();
  const Slot slot = world.coordinator->job()->placement[work_1];
  for (int i = 0; i < 3; ++i) {
    CHECK(world.code() == -1);
    world.pass(milliseconds(1'250), {slot});
    world.exit(slot, "killed by signal 9 (SIGKILL)", true, {{work_1, 4711}});
    if (i < 2) world.join(slot), world.ready();
  }
  CHECK(world.code() == 1);
  CHECK(has(world.why(), "work/1 failed 3 times at or near item 4711: no heartbeat for 1250 ms"));
}

TEST_CASE("processes that anybody may have stopped use up no budget but at the same item") {
  World world;
  world.start();
  const Slot slot = world.coordinator->job()->placement[work_1];
  for (std::uint64_t i = 0; i < 20; ++i) {
    world.pass(milliseconds(1'250), {slot});
    world.exit(slot, "killed by signal 9 (SIGKILL)", true, {{work_1, 4711 + i % 10}});
    if (i == 19) break;
    world.join(slot);
    world.ready();
  }
  CHECK(world.code() == -1);
}

TEST_CASE("an item that ends its process's connection again and again becomes a dead letter") {
  JobSettings settings = test_settings();
  settings.dead_letters = true;
  World world(settings);
  world.start();
  const Slot slot = world.coordinator->job()->placement[work_1];
  for (const std::uint64_t item : {4713, 4711, 4715}) {
    CHECK(world.told<ItemSkipped>().empty());
    world.tell(ConnectionLost{slot, world.incarnations[slot]});
    world.exit(slot, "killed by signal 9 (SIGKILL)", true, {{work_1, item}});
    world.join(slot);
    world.ready();
  }
  CHECK(world.code() == -1);
  REQUIRE(world.told<ItemSkipped>().size() == 1);
  CHECK(world.told<ItemSkipped>()[0].item == 4711);
}

namespace {

/// `work_1` is inside its operator and at this item all the time, and others beat without a word.
void be_busy(World& world, std::uint64_t item, milliseconds time) {
  const runtime::Progress progress{.replica = work_1, .calls = 3, .item = item};
  for (const Time until = world.now + time; world.now < until && world.code() == -1;) {
    if (world.coordinator->phase() != Phase::running) return;
    world.pass(world.settings.heartbeat_interval);
    world.say_of(work_1, runtime::Heartbeat{world.epoch(), 0, {progress}});
  }
}

}  // namespace

TEST_CASE("a replica that stays at an item for ten seconds is named, and nothing else is done") {
  JobSettings settings = test_settings();
  settings.snapshots = false;
  World world(settings);
  world.start();
  world.clear();
  be_busy(world, 17, milliseconds(15'000));
  REQUIRE(world.told<ReplicaBusy>().size() == 1);
  CHECK(text_of(world.told<ReplicaBusy>()[0]) == "work/1 has been busy with item 17 for 10.0 s");
  CHECK(world.told<Lost>().empty());
}

TEST_CASE("with a time for it a replica that stays at an item is stuck, and the item is skipped") {
  JobSettings settings = test_settings();
  settings.dead_letters = true;
  settings.stuck_after = milliseconds(2'000);
  World world(settings);
  world.start();
  const Slot slot = world.coordinator->job()->placement[work_1];
  for (int i = 0; i < 3; ++i) {
    CHECK(world.told<ItemSkipped>().empty());
    be_busy(world, 17, milliseconds(5'000));
    REQUIRE(world.told<Lost>().size() == static_cast<std::size_t>(i + 1));
    CHECK(world.told<Lost>().back().how == "work/1 was busy for 2000 ms with item 17");
    CHECK(world.told<Lost>().back().cause == LossCause::stuck);
    // It is ended for that once: what else it was at does not count.
    world.exit(slot, "killed by signal 9 (SIGKILL)", true, {{work_1, 17}, {writer, 3}});
    world.join(slot);
    world.ready();
  }
  CHECK(world.code() == -1);
  REQUIRE(world.told<ItemSkipped>().size() == 1);
  CHECK(world.told<ItemSkipped>()[0].item == 17);
}

TEST_CASE("an item at which a survivor is stuck counts although the recovery waits for it") {
  JobSettings settings = test_settings();
  settings.stuck_after = milliseconds(500);
  World world(settings);
  world.start();
  for (int i = 0; i < 3 && world.code() == -1; ++i) {
    world.exit(0);
    world.join(0);
    world.say(0, runtime::Ready{world.epoch()});
    REQUIRE(world.coordinator->phase() == Phase::restoring);
    const runtime::Progress stuck{.replica = work_1, .calls = 3, .item = 17};
    for (int beats = 0; beats < 3 && world.code() == -1; ++beats) {
      world.say_of(work_1, runtime::Heartbeat{world.epoch(), 0, {stuck}});
      world.pass(world.settings.heartbeat_interval);
    }
    if (world.code() != -1) break;
    REQUIRE(world.told<Lost>().back().how == "work/1 was busy for 500 ms with item 17");
    world.exit(1);
    world.join(1);
    world.ready();
  }
  CHECK(world.code() == 1);
  CHECK(has(world.why(), "work/1 failed 3 times at or near item 17: busy for 500 ms"));
}

TEST_CASE("a state that is loaded is not an item at which somebody is stuck") {
  JobSettings settings = test_settings();
  settings.stuck_after = milliseconds(500);
  World world(settings);
  world.start();
  world.exit(1);
  world.join(1);
  world.say(0, runtime::Ready{world.epoch()});
  world.clear();
  for (int i = 0; i < 20; ++i) {
    const runtime::Progress loads{.replica = work_1, .calls = 3};
    world.say_of(work_1, runtime::Heartbeat{world.epoch(), 0, {loads}});
    world.pass(world.settings.heartbeat_interval);
  }
  CHECK(world.told<Lost>().empty());
}

TEST_CASE("processes that are killed from outside use up no budget") {
  World world;
  world.start();
  for (int i = 0; i < 20; ++i) {
    const Slot slot = world.coordinator->job()->placement[work_1];
    world.exit(slot, "killed by signal 9 (SIGKILL)", true, {{work_1, 4711}});
    world.join(slot);
    world.ready();
  }
  CHECK(world.code() == -1);
}

}  // namespace piracema::cluster
