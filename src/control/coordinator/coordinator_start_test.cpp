#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

TEST_CASE("a job starts all its processes at once") {
  World world;
  CHECK(world.done<Spawn>().size() == 2);
  CHECK(world.coordinator->phase() == Phase::gathering);
}

TEST_CASE("an embedded job starts none and waits for its worker") {
  JobSettings settings = test_settings();
  settings.slots = 1;
  settings.can_spawn = false;
  World world(settings);
  world.pass(milliseconds(100'000));
  CHECK(world.all.empty());
  world.join(0);
  CHECK(world.sent<runtime::Deploy>().size() == 1);
}

TEST_CASE("nothing is deployed before all have joined, then all get the same") {
  World world;
  world.join(0);
  CHECK(world.sent<runtime::Deploy>().empty());
  world.join(1);
  const auto deploys = world.sent<runtime::Deploy>();
  REQUIRE(deploys.size() == 2);
  for (const auto& [slot, deploy] : deploys) {
    CHECK(deploy.epoch == 1);
    CHECK_FALSE(deploy.restore);
    CHECK(deploy.placement.size() == 4);
    CHECK(deploy.peers.size() == 2);
    CHECK(deploy.may_live.empty());
  }
  CHECK(world.coordinator->phase() == Phase::restoring);
}

TEST_CASE("the job runs when the last one is ready") {
  World world;
  world.join(0);
  world.join(1);
  world.say(1, runtime::Ready{1});
  CHECK(world.coordinator->phase() == Phase::restoring);
  world.say(0, runtime::Ready{1});
  CHECK(world.told<Running>().size() == 1);
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("a job that resumes begins with its snapshot and counts on from all that were found") {
  JobSettings settings = test_settings();
  settings.resume = 7;
  settings.found = {5, 6, 7, 9};
  settings.snapshots_kept = 2;
  World world(settings);
  world.join(0);
  world.join(1);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore == 7);
  world.ready();
  world.take_snapshot(10);
  CHECK(world.sent<runtime::Trigger>()[0].second.snapshot == 10);
  std::set<SnapshotId> dropped;
  for (const DropSnapshot& drop : world.done<DropSnapshot>()) dropped.insert(drop.snapshot);
  CHECK(dropped == std::set<SnapshotId>{5, 6, 9});
}

TEST_CASE("a worker with another graph ends the job with code 3") {
  World world;
  world.join(0);
  GraphShape other = test_shape();
  other.nodes[1].name = "play";
  world.join(1, runtime::encode_shape(other));
  CHECK(world.code() == 3);
  CHECK(has(world.why(), "worker 1 runs another program"));
  CHECK(world.done<Kill>().size() == 2);
}

TEST_CASE(
    "a worker of which the state of an operator is of another type ends the job with code 3") {
  World world;
  world.layouts = {"i64", "{i64}", ""};
  world.join(0);
  world.layouts[1] = "{i32}";
  world.join(1);
  CHECK(world.code() == 3);
  CHECK(has(world.why(), "worker 1 runs another program"));
  CHECK(has(world.why(), "the state of an operator"));
}

TEST_CASE("layouts that fit no graph end the job with code 3, and never reach a manifest") {
  for (const std::vector<std::string>& layouts : {std::vector<std::string>{"i64"},
                                                  {"i64", "i64", "i64", "i64"},
                                                  {"", "\xff", ""},
                                                  {"", std::string(100'000, 'x'), ""}}) {
    World world;
    world.layouts = layouts;
    world.join(0);
    CHECK(world.code() == 3);
    CHECK(has(world.why(), "layout"));
  }
}

TEST_CASE("bytes that are no graph end the job with code 3") {
  World world;
  world.join(0, "nonsense");
  CHECK(world.code() == 3);
}

TEST_CASE("a process that a signal ends before anybody has joined is a loss like any other") {
  for (const bool from_outside : {true, false}) {
    World world;
    world.clear();
    world.end_by_signal(0, from_outside);
    CHECK(world.code() == -1);
    REQUIRE(world.told<Lost>().size() == 1);
    REQUIRE(world.done<Spawn>().size() == 1);
    CHECK(world.done<Spawn>()[0].incarnation == 1);
    world.start();
  }
}

TEST_CASE("a program that a signal of its own ends at each start is given up") {
  World world;
  world.end_by_signal(0, false);
  world.end_by_signal(0, false);
  CHECK(world.code() == -1);
  world.pass(milliseconds(100), {0, 1});
  world.end_by_signal(0, false);
  CHECK(world.code() == 4);
  CHECK(world.why() ==
        "worker 0 could not be started 3 times in a row: its process was killed by signal 11 "
        "(SIGSEGV)");
}

TEST_CASE("a replacement that exits before it joins says the same as the first one") {
  World world;
  world.end_by_signal(0, true);
  world.exit(0, "ended with status 2", false);
  CHECK(world.code() == 3);
}

TEST_CASE("a program that ends before it joins is no program of ours") {
  World world;
  world.exit(1, "ended with status 2", false);
  CHECK(world.code() == 3);
  CHECK(has(world.why(), "worker 1 did not join the job: its process ended with status 2"));
}

TEST_CASE("a first process that cannot begin says why, and a later one is lost") {
  World world;
  world.start();
  world.exit(1);
  world.hindered(1, "port 80: Address already in use");
  CHECK(world.code() == -1);
  CHECK(world.told<Lost>().back().how == "it cannot begin: port 80: Address already in use");

  World first;
  first.join(0);
  first.hindered(1, "port 80: Address already in use");
  CHECK(first.code() == 3);
  CHECK(first.why() == "worker 1 cannot begin: port 80: Address already in use");
}

TEST_CASE("a process that does not join in time is started again") {
  World world;
  world.join(0);
  world.clear();
  world.pass(world.settings.join_timeout);
  REQUIRE(world.done<Kill>().size() == 1);
  CHECK(world.done<Kill>()[0].slot == 1);
  CHECK(world.told<Lost>()[0].how == "it did not join within 30000 ms");
  CHECK(world.told<Lost>()[0].cause == LossCause::not_joined);
  world.exit(1);
  REQUIRE(world.done<Spawn>().size() == 1);
  CHECK(world.done<Spawn>()[0].incarnation == 1);
}

TEST_CASE("a process of old that joins late is sent away") {
  World world;
  world.start();
  world.exit(1);
  world.clear();
  world.tell(Joined{1, 0, "address", runtime::encode_shape(test_shape())});
  REQUIRE(world.wanted.size() == 1);
  const auto& send = std::get<Send>(world.wanted[0]);
  CHECK(send.incarnation == 0);
  CHECK(std::get<runtime::Shutdown>(send.message).code == 1);
  world.tell(Joined{77, 0, "address", ""});
  CHECK(world.sent<runtime::Shutdown>().size() == 2);
}

TEST_CASE("settings that make no sense are named") {
  const auto refused = [](auto change) {
    JobSettings settings = test_settings();
    change(settings);
    const auto valid = validate(settings);
    return valid ? std::string() : valid.error().message;
  };
  CHECK(refused([](JobSettings&) {}) == "");
  CHECK(refused([](JobSettings& s) { s.slots = 0; }) ==
        "worker processes: want 1 to 4096, found 0");
  CHECK(has(refused([](JobSettings& s) { s.can_spawn = false; }), "embedded"));
  CHECK(refused([](JobSettings& s) { s.snapshot_interval = milliseconds(0); }) ==
        "snapshot interval: want 1 ms to 1 year, found 0 ms");
  CHECK(refused([](JobSettings& s) { s.heartbeat_timeout = milliseconds(300); }) ==
        "heartbeat timeout: want at least two intervals of 250 ms, found 300 ms");
  CHECK(has(refused([](JobSettings& s) { s.snapshots_kept = 0; }), "snapshots to keep"));
  CHECK(has(refused([](JobSettings& s) { s.restart_budget = 0; }), "restart budget"));
  CHECK(has(refused([](JobSettings& s) {
              s.snapshots = false;
              s.resume = 1;
            }),
            "resumes"));
}

}  // namespace piracema::cluster
