// A user wants a snapshot with a name of a job that runs.
#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

namespace {

JobSettings overtaking_settings() {
  JobSettings settings = test_settings();
  settings.overtake_after = milliseconds(100);
  return settings;
}

AnswerRequest ask(World& world, const std::string& name = "v1") {
  world.tell(UserAsked{7, SavepointRequest{name}});
  const auto answers = world.done<AnswerRequest>();
  REQUIRE(!answers.empty());
  CHECK(answers.back().id == 7);
  return answers.back();
}

SavepointEnded ended(const World& world) {
  const auto told = world.told<SavepointEnded>();
  REQUIRE(told.size() == 1);
  return told[0];
}

void fail_snapshot(World& world, SnapshotId id) {
  world.say_of(work_0, runtime::SaveFailed{world.epoch(), id, work_0, "the disk is full"});
}

}  // namespace

TEST_CASE("a savepoint is a snapshot that is taken at once, overtakes nothing and gets the name") {
  World world(overtaking_settings());
  world.start();
  world.clear();
  CHECK(ask(world).accepted);
  const auto triggers = world.sent<runtime::Trigger>();
  REQUIRE(triggers.size() == 1);
  CHECK(triggers[0].second.patience == runtime::Trigger{}.patience);
  CHECK(!triggers[0].second.hold);
  world.save_all(1);
  CHECK(world.done<NameSnapshot>().empty());
  world.tell(SnapshotCommitted{1});
  const auto names = world.done<NameSnapshot>();
  REQUIRE(names.size() == 1);
  CHECK(names[0].snapshot == 1);
  CHECK(names[0].name == "v1");
  // The job has gone on, and so have its sinks.
  CHECK(world.sent<runtime::Commit>().size() == 1);
  CHECK(world.told<SavepointEnded>().empty());
  world.tell(SnapshotNamed{1});
  CHECK(ended(world).snapshot == 1);
  CHECK(ended(world).name == "v1");
}

TEST_CASE("one that is asked for while a snapshot is taken waits for another one") {
  World world(overtaking_settings());
  world.start();
  world.pass(milliseconds(1'000));
  world.clear();
  CHECK(ask(world).accepted);
  CHECK(world.sent<runtime::Trigger>().empty());
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  CHECK(world.done<NameSnapshot>().empty());
  REQUIRE(world.sent<runtime::Trigger>().size() == 1);
  CHECK(world.sent<runtime::Trigger>()[0].second.snapshot == 2);
  world.save_all(2);
  world.tell(SnapshotCommitted{2});
  REQUIRE(world.done<NameSnapshot>().size() == 1);
  CHECK(world.done<NameSnapshot>()[0].snapshot == 2);
}

TEST_CASE("a loss does not end the wish for a savepoint, a snapshot that fails does") {
  World world;
  world.start();
  CHECK(ask(world).accepted);
  world.exit(0);
  world.join(0);
  world.clear();
  // A snapshot that is due waits for a while after a recovery, a user does not.
  world.ready();
  REQUIRE(world.sent<runtime::Trigger>().size() == 1);
  CHECK(world.told<SavepointEnded>().empty());
  fail_snapshot(world, 2);
  CHECK(!ended(world).snapshot);
  CHECK(has(ended(world).why, "the disk is full"));
  world.clear();
  CHECK(ask(world).accepted);
}

TEST_CASE("one at a time, and what cannot be is refused with the reason") {
  World world;
  CHECK(ask(world).later);
  world.start();
  CHECK(ask(world, "a").accepted);
  const AnswerRequest second = ask(world, "b");
  CHECK(!second.accepted);
  CHECK(second.later);
  CHECK(second.why == "savepoint 'a' is being taken");

  JobSettings without = test_settings();
  without.snapshots = false;
  World plain(without);
  plain.start();
  const AnswerRequest never = ask(plain);
  CHECK(!never.accepted);
  CHECK(!never.later);
  CHECK(has(never.why, "--snapshots"));
}

TEST_CASE("a name that is not written is said, and the job goes on") {
  World world;
  world.start();
  CHECK(ask(world).accepted);
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  world.tell(SnapshotNotNamed{1, "savepoint 'v1' is snapshot 4"});
  CHECK(ended(world).why == "savepoint 'v1' is snapshot 4");
  CHECK(world.coordinator->phase() == Phase::running);
}

TEST_CASE("the snapshot of a stop gets the name, and the job is over when that is written") {
  World world;
  world.start();
  world.pass(milliseconds(1'000));
  CHECK(ask(world).accepted);
  world.tell(StopRequested{});
  world.save_all(1);
  world.tell(SnapshotCommitted{1});
  world.save_all(2);
  world.tell(SnapshotCommitted{2});
  REQUIRE(world.done<NameSnapshot>().size() == 1);
  CHECK(world.done<NameSnapshot>()[0].snapshot == 2);
  world.commit_writer(1);
  world.commit_writer(2);
  world.exit(0);
  world.exit(1);
  CHECK(world.done<Finish>().empty());
  world.pass(milliseconds(20'000));
  CHECK(world.done<Finish>().empty());
  world.tell(SnapshotNamed{2});
  REQUIRE(world.done<Finish>().size() == 1);
  CHECK(world.done<Finish>()[0].code == 75);
}

TEST_CASE(
    "a job that ends, fails or is stopped without a snapshot says that there is no savepoint") {
  SUBCASE("every replica ends") {
    World world;
    world.start();
    world.pass(milliseconds(1'000));
    CHECK(ask(world).accepted);
    world.end_all();
    world.save_all(1);
    world.tell(SnapshotCommitted{1});
    CHECK(ended(world).why == "every replica has ended");
  }
  SUBCASE("an operator cannot be saved from what it does") {
    JobSettings settings = test_settings();
    settings.restart_budget = 1;
    World world(settings);
    world.start();
    CHECK(ask(world).accepted);
    world.say_of(work_0, runtime::OperatorFailed{world.epoch(), work_0, std::nullopt, "no"});
    CHECK(has(ended(world).why, "the job has failed"));
  }
  SUBCASE("it is stopped while it goes back to a snapshot") {
    World world;
    world.start();
    world.exit(0);
    CHECK(ask(world).accepted);
    world.tell(StopRequested{});
    world.exit(1);
    world.tell(SnapshotFound{});
    CHECK(!ended(world).snapshot);
  }
}

TEST_CASE("a coordinator that takes over has to be asked again") {
  World world;
  world.start();
  CHECK(ask(world).accepted);
  world.clear();
  world.coordinator.emplace(world.log);
  world.tell(Tick{});
  CHECK(ask(world).accepted);
}

}  // namespace piracema::cluster
