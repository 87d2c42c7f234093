#include "control/coordinator/epoch/epoch_change.h"

#include "control/coordinator/parts_testing.h"

namespace piracema::cluster {

namespace {

struct ChangingJob : PlannedParts {
  void deploy(std::uint64_t emitted = 0) { change.deploy(*job, emitted, now); }

  EpochChange change{journal, members, detector};
};

}  // namespace

TEST_CASE("the first epoch begins with a message to all, and is no recovery") {
  ChangingJob world;
  world.deploy();
  CHECK(world.journal.metadata().epoch == 1);
  CHECK(world.journal.metadata().epoch_holds);
  std::vector<Slot> told;
  for (const Action& action : world.journal.take()) {
    CHECK_FALSE(std::holds_alternative<Tell>(action));
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr) continue;
    const auto* deploy = std::get_if<runtime::Deploy>(&send->message);
    REQUIRE(deploy != nullptr);
    CHECK(deploy->epoch == 1);
    CHECK_FALSE(deploy->restore);
    CHECK(deploy->replicas == std::vector<std::uint32_t>{1, 2, 1});
    told.push_back(send->slot);
  }
  CHECK(told == std::vector<Slot>{0, 1});
}

TEST_CASE("whoever goes back is told to people, with how much is done again") {
  ChangingJob world;
  world.deploy();
  world.change.go_back("worker 1 was lost");
  CHECK_FALSE(world.journal.metadata().epoch_holds);
  CHECK(world.change.why() == "worker 1 was lost");
  world.journal.take();

  world.deploy(70);
  const auto recovering = world.told<Recovering>();
  REQUIRE(recovering.size() == 1);
  CHECK(recovering[0].epoch == 2);
  CHECK(recovering[0].redone == 70);
}

TEST_CASE("replicas are told that they were started before once all of them were, in this job") {
  ChangingJob world;
  const auto told = [&]() -> bool {
    world.journal.take();
    world.deploy();
    std::vector<bool> before;
    for (const Action& action : world.journal.take()) {
      const auto* send = std::get_if<Send>(&action);
      if (send == nullptr) continue;
      before.push_back(std::get<runtime::Deploy>(send->message).started_before);
    }
    REQUIRE(before.size() == 2);
    CHECK(before[0] == before[1]);
    return before[0];
  };
  CHECK_FALSE(told());
  world.change.go_back("worker 1 was lost before it was ready");
  CHECK_FALSE(told());
  world.change.run();
  world.change.go_back("worker 1 was lost");
  CHECK(told());
  world.change.go_back("worker 1 was lost before it was ready");
  CHECK(told());
}

TEST_CASE("what goes on where all stand is no recovery, unless something is lost on the way") {
  for (const bool disturbed : {false, true}) {
    ChangingJob world;
    world.deploy();
    world.change.go_on_at_snapshot("the job was scaled");
    if (disturbed) world.change.disturbed();
    world.journal.take();
    world.deploy();
    CHECK(world.told<Recovering>().size() == (disturbed ? 1 : 0));

    // It holds for one change alone.
    world.change.go_back("worker 1 was lost");
    world.deploy();
    CHECK(world.told<Recovering>().size() == 1);
  }
}

TEST_CASE("an epoch that has ended does not end again when the reason changes") {
  ChangingJob world;
  world.deploy();
  world.change.go_back("worker 1 was lost");
  world.journal.take();
  world.change.go_on_at_snapshot("the job was scaled");
  CHECK(world.journal.take().empty());
  CHECK(world.change.why() == "the job was scaled");
}

TEST_CASE("an epoch that was found says so once, and one that is deployed after it does not") {
  ChangingJob world;
  world.begin_epoch();
  world.change.attach(world.now);
  const auto reattached = world.told<Reattached>();
  REQUIRE(reattached.size() == 1);
  CHECK(reattached[0].epoch == 1);
  CHECK(world.change.run());
  CHECK_FALSE(world.change.run());

  world.change.attach(world.now);
  world.change.go_back("worker 1 was lost");
  world.deploy();
  CHECK_FALSE(world.change.run());
}

TEST_CASE("who is not ready in time after a Deploy is late, who is ready is not") {
  ChangingJob world;
  world.detector.heard(0, world.now);
  world.detector.heard(1, world.now);
  world.deploy();
  world.members[0].ready();
  world.detector.ready(0);
  world.now += std::chrono::hours(1);
  world.detector.heard(0, world.now);
  world.detector.heard(1, world.now);
  CHECK_FALSE(world.detector.expired(0, world.now, true));
  CHECK(world.detector.expired(1, world.now, true));
}

}  // namespace piracema::cluster
