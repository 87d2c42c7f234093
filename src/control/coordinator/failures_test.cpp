#include "control/coordinator/failures.h"

#include "control/coordinator/parts_testing.h"

namespace piracema::cluster {

namespace {

struct FailingJob : PlannedParts {
  using PlannedParts::PlannedParts;

  Exited ended(Slot slot, std::string by = "killed by signal 9 (SIGKILL)",
               bool from_outside = true) const {
    return {.slot = slot,
            .incarnation = members.incarnation(slot),
            .from_outside = from_outside,
            .by = std::move(by),
            .at_work = {}};
  }

  Failures failures{journal, members, detector, job};
};

bool is_nothing(const Consequence& what) { return std::holds_alternative<std::monostate>(what); }

runtime::Progress at_work_on(ReplicaId replica, std::uint64_t item) {
  runtime::Progress progress;
  progress.replica = replica;
  progress.calls = 1;
  progress.item = item;
  return progress;
}

}  // namespace

TEST_CASE("a process that ends is told of, its slot is freed and all go back") {
  FailingJob world;
  world.begin_epoch();
  const Exited exited = world.ended(1);
  const auto what = world.failures.ended(exited, world.now);
  REQUIRE(std::holds_alternative<GoBack>(what));
  CHECK(std::get<GoBack>(what).why == "worker 1 was lost");
  CHECK(std::get<GoBack>(what).lost == Slot{1});
  const auto lost = world.told<Lost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].replicas == "work/1, writer");
  CHECK(lost[0].cause == LossCause::process_ended);

  CHECK(is_nothing(world.failures.gone(exited, world.now)));
  CHECK(world.members[1].state() == Member::State::absent);
  CHECK(world.members.incarnation(1) == exited.incarnation + 1);
}

TEST_CASE("the end of a process that was lost before is no news") {
  FailingJob world;
  world.begin_epoch();
  CHECK_FALSE(is_nothing(
      world.failures.lose(1, LossCause::connection_ended, "its connection ended", world.now)));
  world.journal.take();
  CHECK(is_nothing(world.failures.ended(world.ended(1), world.now)));
  CHECK(world.told<Lost>().empty());
}

TEST_CASE("a process that does not go when it is killed keeps its slot for a moment only") {
  FailingJob world;
  world.begin_epoch();
  CHECK_FALSE(is_nothing(
      world.failures.lose(1, LossCause::connection_ended, "its connection ended", world.now)));
  CHECK(is_nothing(world.failures.passed(1, world.now, false)));
  CHECK(world.members[1].state() == Member::State::ending);
  CHECK(is_nothing(world.failures.passed(1, world.now + Members::exit_wait, false)));
  CHECK(world.members[1].state() == Member::State::absent);
  CHECK(world.members.may_live() == std::vector<Slot>{1});
}

TEST_CASE("a process that nobody has heard of in time is lost by a tick") {
  FailingJob world;
  world.begin_epoch();
  world.detector.heard(1, world.now);
  const Time later = world.now + milliseconds{60'000};
  const auto what = world.failures.passed(1, later, false);
  REQUIRE(std::holds_alternative<GoBack>(what));
  const auto lost = world.told<Lost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].cause == LossCause::silent);
}

TEST_CASE("a loss is fatal without snapshots, and all that is known of it is said") {
  FailingJob world(without_snapshots());
  world.begin_epoch();
  CHECK_FALSE(world.failures.fatal());
  CHECK(std::holds_alternative<GoBack>(
      world.failures.lose(1, LossCause::connection_ended, "its connection ended", world.now)));
  CHECK(is_nothing(world.failures.ended(world.ended(1), world.now)));
  REQUIRE(world.failures.fatal());
  const Finish end = world.failures.fatal_end();
  CHECK(end.code == 4);
  CHECK(end.why ==
        "worker 1 (work/1, writer) was lost: its connection ended; its process ended: killed by "
        "signal 9 (SIGKILL); start with --snapshots DIR to go on after a loss");
}

TEST_CASE("a process that the next plan waits for hinders the plan, not the job") {
  FailingJob world;
  world.begin_epoch();
  auto plan = plan_scale(*world.job, world.journal.settings(), {{}, 3});
  REQUIRE(plan);
  REQUIRE(*plan);
  world.journal.decide(**plan);
  world.members.grow();
  world.detector.grow(3);
  world.members.spawn(world.now);
  world.members[2].join("address");

  const auto what = world.failures.ended(world.ended(2), world.now);
  REQUIRE(std::holds_alternative<PlanHindered>(what));
  CHECK(has(std::get<PlanHindered>(what).why, "worker 2 was lost before it had begun"));
  CHECK(world.told<Lost>().empty());
}

TEST_CASE("a process that leaves before it has joined is no program of ours") {
  FailingJob world;
  world.members.end(1, world.now);
  world.members.left(1, world.now, true);
  world.members.spawn(world.now);
  const auto what = world.failures.ended(world.ended(1, "left with code 7", false), world.now);
  REQUIRE(std::holds_alternative<Finish>(what));
  CHECK(std::get<Finish>(what).code == 3);
  CHECK(std::get<Finish>(what).why ==
        "worker 1 did not join the job: its process left with code 7");
}

TEST_CASE("a process that was killed from outside is nobody's fault, one that crashed is") {
  FailingJob world;
  world.begin_epoch();
  for (const bool from_outside : {true, false}) {
    Exited exited = world.ended(1, "killed by a signal", from_outside);
    exited.at_work = {{work_1, 17}};
    CHECK(std::holds_alternative<GoBack>(world.failures.ended(exited, world.now)));
    CHECK(is_nothing(world.failures.gone(exited, world.now)));
    const auto actions = world.journal.take();
    REQUIRE_FALSE(actions.empty());
    const auto* decide = std::get_if<Decide>(&actions.front());
    REQUIRE(decide != nullptr);
    const bool counted = std::any_of(
        decide->decisions.begin(), decide->decisions.end(),
        [](const Decision& decision) { return std::holds_alternative<FailureCounted>(decision); });
    CHECK(counted != from_outside);
    world.members.spawn(world.now);
    world.members[1].join("address");
  }
}

TEST_CASE("an operator that cannot begin ends the job, one that fails at an item is tried again") {
  FailingJob world;
  world.begin_epoch();
  runtime::OperatorFailed failed;
  failed.epoch = 1;
  failed.replica = work_1;
  failed.why = "no such file";
  const auto at_first = world.failures.failed(failed, true);
  REQUIRE(std::holds_alternative<Finish>(at_first));
  CHECK(std::get<Finish>(at_first).why == "operator work/1 failed: no such file");

  failed.item = 17;
  const auto later = world.failures.failed(failed, false);
  REQUIRE(std::holds_alternative<GoBack>(later));
  CHECK_FALSE(std::get<GoBack>(later).lost);
}

TEST_CASE("an operator that does not return costs its process, a source that waits does not") {
  JobSettings settings = test_settings();
  settings.stuck_after = milliseconds{1'000};
  FailingJob world(settings);
  world.begin_epoch();
  const Slot slot = world.job->placement[work_1];
  const Slot other = world.job->placement[reader];
  Consequence what;
  for (int beat = 0; beat < 20 && is_nothing(what); ++beat) {
    CHECK(is_nothing(world.failures.heard(other, at_work_on(reader, 1), world.now)));
    // Of another process's replicas it says nothing that counts.
    CHECK(is_nothing(world.failures.heard(other, at_work_on(work_1, 17), world.now)));
    what = world.failures.heard(slot, at_work_on(work_1, 17), world.now);
    world.now += world.journal.settings().heartbeat_interval;
  }
  REQUIRE(std::holds_alternative<GoBack>(what));
  CHECK(std::get<GoBack>(what).lost == slot);
  const auto lost = world.told<Lost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].cause == LossCause::stuck);
  CHECK(lost[0].how == "work/1 was busy for 1000 ms with item 17");
}

}  // namespace piracema::cluster
