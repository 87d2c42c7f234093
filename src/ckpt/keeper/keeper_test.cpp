#include "ckpt/keeper/keeper.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace piracema::ckpt {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// A keeper whose job runs.
struct Running {
  explicit Running(KeeperSettings settings = {}) : keeper(settings) {
    keeper.begin(time);
    if (settings.windows) tell(WindowOpened{seconds(100)});
    tell(CapsuleReady{true, {}});
    tell(Launched{true, false, {}});
    actions.clear();
  }
  void tell(const KeeperEvent& event, Time at = {}) {
    time = std::max(time, at);
    actions = keeper.step(time, event);
  }
  /// The first action of this kind; null if there is none.
  template <class Action>
  const Action* find() const {
    for (const auto& action : actions) {
      if (const auto* found = std::get_if<Action>(&action)) return found;
    }
    return nullptr;
  }

  Time time{};
  Keeper keeper;
  std::vector<KeeperAction> actions;
};

}  // namespace

TEST_CASE("a save is answered when its image is complete, and the job goes on") {
  Running job;
  job.tell(SaveAsked{7});
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK_FALSE(job.find<Dump>()->stop);
  CHECK(job.find<Answer>() == nullptr);
  job.tell(Dumped{true, {}, "image 1"});
  REQUIRE(job.find<Answer>() != nullptr);
  CHECK(job.find<Answer>()->ok);
  CHECK(job.keeper.running());
}

TEST_CASE("a job that is to stand still does, without images, and goes on") {
  Running job({.every = seconds(10)});
  job.tell(Suspended{true}, seconds(1));
  REQUIRE(job.find<Pause>() != nullptr);
  CHECK(job.find<Pause>()->still);
  CHECK_FALSE(job.keeper.wake());
  job.tell(Tick{}, seconds(60));
  CHECK(job.actions.empty());
  job.tell(Suspended{true});
  CHECK(job.actions.empty());
  // An image is due at once then.
  job.tell(Suspended{false}, seconds(61));
  REQUIRE(job.actions.size() == 2);
  CHECK_FALSE(std::get<Pause>(job.actions[0]).still);
  CHECK(std::holds_alternative<Dump>(job.actions[1]));
}

TEST_CASE("a job that stands still goes on to be saved, and does not go on after that") {
  Running job;
  job.tell(Suspended{true});
  job.tell(SaveAsked{1});
  REQUIRE(job.actions.size() == 2);
  CHECK_FALSE(std::get<Pause>(job.actions[0]).still);
  CHECK_FALSE(std::get<Dump>(job.actions[1]).stop);
  job.tell(Dumped{true, {}, "image 1"});
  REQUIRE(job.find<Pause>() != nullptr);
  CHECK(job.find<Pause>()->still);
}

TEST_CASE("a job that stands still is saved when it is interrupted") {
  Running job;
  job.tell(Suspended{true});
  job.tell(Interrupted{});
  REQUIRE(job.actions.size() == 2);
  CHECK_FALSE(std::get<Pause>(job.actions[0]).still);
  CHECK(std::get<Dump>(job.actions[1]).stop);
  // What is in the way passes only if it runs.
  job.tell(Dumped{false, "a connection is being opened", {}, true});
  CHECK(job.actions.empty());
  job.tell(Tick{}, *job.keeper.wake());
  REQUIRE(job.actions.size() == 1);
  job.tell(Dumped{true, {}, "image 1"});
  CHECK(job.find<Finish>()->end == End::stopped);
}

TEST_CASE("a job that is told to stand still while an image is made does after that") {
  Running job;
  job.tell(SaveAsked{1});
  job.tell(Suspended{true});
  CHECK(job.actions.empty());
  job.tell(Dumped{true, {}, "image 1"});
  REQUIRE(job.find<Pause>() != nullptr);
  CHECK(job.find<Pause>()->still);
}

TEST_CASE("a job that is launched while it is to stand still does once it runs") {
  Keeper keeper({});
  keeper.begin(Time{});
  CHECK(keeper.step(Time{}, Suspended{true}).empty());
  keeper.step(Time{}, CapsuleReady{true, {}});
  const auto actions = keeper.step(Time{}, Launched{true, false, {}});
  REQUIRE(actions.size() == 1);
  CHECK(std::get<Pause>(actions[0]).still);
}

TEST_CASE("whoever asks while an image is being made gets one that is made after that") {
  Running job;
  job.tell(SaveAsked{1});
  job.tell(SaveAsked{2});
  CHECK(job.actions.empty());
  job.tell(Dumped{true, {}, "image 1"});
  REQUIRE(job.find<Answer>() != nullptr);
  CHECK(job.find<Answer>()->caller == 1);
  REQUIRE(job.find<Dump>() != nullptr);
  job.tell(Dumped{true, {}, "image 2"});
  CHECK(job.find<Answer>()->caller == 2);
}

TEST_CASE("whoever asks while the job is being launched is served when it runs") {
  Keeper keeper({});
  keeper.begin(Time{});
  keeper.step(Time{}, CapsuleReady{true, {}});
  CHECK(keeper.step(Time{}, StopAsked{4}).empty());
  const auto actions = keeper.step(Time{}, Launched{true, false, {}});
  REQUIRE(actions.size() == 1);
  CHECK(std::get<Dump>(actions[0]).stop);
}

TEST_CASE("who asks to stop while an image is made that fails is answered when it has stopped") {
  Running job;
  job.tell(SaveAsked{1});
  job.tell(StopAsked{2});
  job.tell(Dumped{false, "no room", {}});
  REQUIRE(job.find<Answer>() != nullptr);
  CHECK(job.find<Answer>()->caller == 1);
  job.tell(Tick{}, *job.keeper.wake());
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  job.tell(Dumped{true, {}, "image 1"});
  CHECK(job.find<Answer>()->caller == 2);
  CHECK(job.find<Answer>()->ok);
}

TEST_CASE("a stop that cannot be saved lets the job go on") {
  Running job;
  job.tell(StopAsked{1});
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  job.tell(Dumped{false, "no room", {}});
  REQUIRE(job.find<Answer>() != nullptr);
  CHECK_FALSE(job.find<Answer>()->ok);
  CHECK(job.find<KillCapsule>() == nullptr);
  CHECK(job.keeper.running());
}

TEST_CASE(
    "a stop for which something is in the way that passes is tried again, and then answered") {
  Running job;
  job.tell(StopAsked{1});
  job.tell(Dumped{false, "a connection is being opened", {}, true});
  CHECK(job.actions.empty());
  REQUIRE(job.keeper.wake());
  CHECK(*job.keeper.wake() < milliseconds(50));
  job.tell(Tick{}, *job.keeper.wake());
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  job.tell(Dumped{true, {}, "image 2"});
  CHECK(job.find<Answer>()->ok);
  CHECK(job.find<Finish>()->end == End::stopped);
}

TEST_CASE("what should pass and does not is named in the end, and the job goes on") {
  Running job;
  job.tell(SaveAsked{1});
  int tries = 0;
  while (job.find<Answer>() == nullptr) {
    job.tell(Dumped{false, "a connection is being opened", {}, true}, job.time + milliseconds(5));
    tries += 1;
    if (job.find<Answer>() == nullptr) {
      CHECK_FALSE(job.keeper.dumping());
      job.tell(Tick{}, *job.keeper.wake());
      REQUIRE(job.find<Dump>() != nullptr);
    }
  }
  CHECK_FALSE(job.find<Answer>()->ok);
  CHECK(job.find<Answer>()->text == "a connection is being opened");
  CHECK(job.keeper.running());
  CHECK(job.time > seconds(1));
  CHECK(job.time < seconds(3));
  CHECK(tries < 20);
  // The next one has all of the patience again.
  job.tell(SaveAsked{2});
  job.tell(Dumped{false, "a connection is being opened", {}, true});
  CHECK(job.find<Answer>() == nullptr);
}

TEST_CASE("a periodic image that something passing is in the way of is not left out") {
  Running job({.every = seconds(10)});
  job.tell(Tick{}, seconds(10));
  job.tell(Dumped{false, "a connection is being opened", {}, true});
  CHECK(job.actions.empty());
  CHECK(*job.keeper.wake() < seconds(11));
}

TEST_CASE("the window counts for more than what passes") {
  Running job({.windows = true, .reserve = milliseconds(500)});
  job.tell(Tick{}, milliseconds(99'490));
  job.tell(LeaveAsked{seconds(100)}, milliseconds(99'495));
  job.tell(StopAsked{1});
  job.tell(Dumped{false, "a connection is being opened", {}, true}, milliseconds(99'499));
  job.tell(Tick{}, milliseconds(99'500));
  CHECK(job.find<KillCapsule>() != nullptr);
}

TEST_CASE("a job that ends while it is to be stopped has ended") {
  Running job;
  job.tell(StopAsked{1});
  job.tell(JobEnded{3 << 8});
  REQUIRE(job.find<Finish>() != nullptr);
  CHECK(job.find<Finish>()->end == End::job_ended);
  CHECK(job.find<Finish>()->status == 3 << 8);
  CHECK_FALSE(job.find<Answer>()->ok);
}

TEST_CASE("a second interrupt does not wait for an image") {
  Running job;
  job.tell(Interrupted{});
  CHECK(job.find<Dump>()->stop);
  job.tell(Interrupted{});
  CHECK(job.find<KillCapsule>() != nullptr);
  CHECK(job.find<Finish>()->end == End::interrupted);
}

TEST_CASE("an image that cannot be gone on from leads to the one before, in a new capsule") {
  Keeper keeper({});
  keeper.begin(Time{});
  keeper.step(Time{}, CapsuleReady{true, {}});
  auto actions = keeper.step(Time{}, Launched{false, true, "damaged"});
  CHECK(std::holds_alternative<KillCapsule>(actions[1]));
  CHECK(std::holds_alternative<OpenCapsule>(actions[2]));
  actions = keeper.step(Time{}, CapsuleReady{true, {}});
  CHECK(std::get<Launch>(actions[0]).attempt == 1);
  actions = keeper.step(Time{}, Launched{false, false, "damaged too"});
  CHECK(std::get<Finish>(actions.back()).end == End::lost);
}

TEST_CASE("an image that nothing is wrong with is tried again before it is given up") {
  Keeper keeper({});
  keeper.begin(Time{});
  for (int i = 0; i < 2; ++i) {
    CHECK(std::get<Launch>(keeper.step(Time{}, CapsuleReady{true, {}})[0]).attempt == 0);
    const auto actions = keeper.step(Time{}, Launched{false, true, "criu: no", true});
    CHECK(std::holds_alternative<KillCapsule>(actions[1]));
    CHECK(std::holds_alternative<OpenCapsule>(actions[2]));
  }
  keeper.step(Time{}, CapsuleReady{true, {}});
  const auto actions = keeper.step(Time{}, Launched{false, true, "criu: no", true});
  CHECK(std::get<Remark>(actions[0]).text == "criu: no; going back to the image before it");
  CHECK(std::get<Launch>(keeper.step(Time{}, CapsuleReady{true, {}})[0]).attempt == 1);
  // One that is there alone is not given up at once either.
  CHECK(keeper.step(Time{}, Launched{false, false, "criu: no", true}).size() == 3);
}

TEST_CASE("periodic images are made one interval after the last one was complete") {
  Running job({.every = seconds(10)});
  CHECK(job.keeper.wake() == seconds(10));
  job.tell(Tick{}, seconds(10));
  CHECK(job.find<Dump>() != nullptr);
  job.tell(Dumped{true, {}, {}}, seconds(13));
  CHECK(job.keeper.wake() == seconds(23));
}

TEST_CASE("a job is stopped as late as the forecast allows") {
  Running job({.windows = true, .reserve = milliseconds(500)});
  job.tell(Forecast{seconds(20)});
  CHECK(job.keeper.wake() == seconds(100) - seconds(20) - milliseconds(500));
  job.tell(Tick{}, milliseconds(79'499));
  CHECK(job.actions.empty());
  job.tell(Tick{}, milliseconds(79'500));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  job.tell(Dumped{true, {}, "image 1"}, seconds(95));
  REQUIRE(job.find<HandedBack>() != nullptr);
  CHECK(job.find<HandedBack>()->saved);
  CHECK_FALSE(job.keeper.over());
}

TEST_CASE("what is not done is given up ahead of the close by what ending the job takes") {
  Running job({.windows = true, .reserve = milliseconds(300)});
  job.tell(Forecast{seconds(20), seconds(2)});
  CHECK(job.keeper.wake() == seconds(78));
  job.tell(Tick{}, seconds(78));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.keeper.wake() == seconds(98));
  job.tell(Tick{}, seconds(98));
  CHECK(job.find<KillCapsule>() != nullptr);
  // A small one has the reserve.
  Running other({.windows = true, .reserve = milliseconds(300)});
  other.tell(Forecast{seconds(20), milliseconds(10)});
  CHECK(other.keeper.wake() == milliseconds(79'700));
}

TEST_CASE("a job whose machine is wanted back leaves in time, though it was promised for longer") {
  Running job({.windows = true, .once = true, .reserve = milliseconds(500)});
  job.tell(Forecast{seconds(3)});
  job.tell(LeaveAsked{seconds(30)}, seconds(20));
  CHECK(job.actions.empty());
  CHECK(job.keeper.wake() == milliseconds(26'500));
  // Later is not what was asked.
  job.tell(LeaveAsked{seconds(90)}, seconds(21));
  job.tell(Tick{}, milliseconds(26'500));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  job.tell(Dumped{true, {}, "image 1"}, seconds(28));
  REQUIRE(job.find<Finish>() != nullptr);
  CHECK(job.find<Finish>()->end == End::stopped);
}

TEST_CASE("a keeper that was held up over the close finds the machine handed back, its job whole") {
  Running job({.windows = true, .once = true});
  job.tell(CapsuleDied{}, seconds(101));
  REQUIRE(job.find<HandedBack>() != nullptr);
  CHECK_FALSE(job.find<HandedBack>()->saved);
  CHECK(job.find<Finish>()->end == End::stopped);
}

TEST_CASE(
    "with less time left than a dump may take it is tried all the same, and given up in time") {
  Running job;  // One that has no windows can be asked to leave as well.
  job.tell(Forecast{seconds(20)});
  job.tell(LeaveAsked{seconds(5)}, seconds(1));
  REQUIRE(job.find<Dump>() != nullptr);
  job.tell(Tick{}, *job.keeper.wake());
  CHECK(job.find<KillCapsule>() != nullptr);
  REQUIRE(job.find<Finish>() != nullptr);
  CHECK(job.find<Finish>()->end == End::stopped);
}

TEST_CASE("a dump that is not done in time is given up and the machine handed back") {
  Running job({.windows = true, .reserve = milliseconds(500)});
  job.tell(Forecast{seconds(20)});
  job.tell(Tick{}, seconds(80));
  job.tell(Tick{}, milliseconds(99'499));
  CHECK(job.actions.empty());
  job.tell(Tick{}, milliseconds(99'500));
  CHECK(job.find<KillCapsule>() != nullptr);
  CHECK_FALSE(job.find<HandedBack>()->saved);
  // The next window finds it ready to go on.
  job.tell(WindowOpened{seconds(300)}, seconds(200));
  CHECK(job.find<OpenCapsule>() != nullptr);
}

TEST_CASE("an image that is asked for waits for a good moment, and is made at it") {
  Running job({.before_save = {.moment = seconds(30)}});
  job.tell(SaveAsked{1}, seconds(1));
  REQUIRE(job.find<AskForMoment>() != nullptr);
  CHECK(job.find<AskForMoment>()->wanted);
  CHECK(job.find<Dump>() == nullptr);
  CHECK(job.keeper.wake() == seconds(31));
  // Another one who asks has it as well.
  job.tell(SaveAsked{2}, seconds(2));
  CHECK(job.actions.empty());
  job.tell(MomentSaid{}, seconds(3));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->at_good_moment);
  job.tell(Dumped{true, {}, "image 1"}, seconds(4));
  CHECK_FALSE(job.find<AskForMoment>()->wanted);
  CHECK_FALSE(job.find<AskForMoment>()->failed);
  CHECK(job.find<Answer>()->caller == 1);
  CHECK(std::count_if(job.actions.begin(), job.actions.end(),
                      [](const auto& one) { return std::holds_alternative<Answer>(one); }) == 2);
  // Nobody wants an image any more.
  job.tell(MomentSaid{}, seconds(5));
  CHECK(job.actions.empty());
}

TEST_CASE("a program that says nothing is saved when its time is over, which is said") {
  Running job({.every = seconds(10), .before_save = {.moment = seconds(3)}});
  job.tell(Tick{}, seconds(10));
  CHECK(job.find<AskForMoment>() != nullptr);
  CHECK(job.keeper.wake() == seconds(13));
  job.tell(Tick{}, seconds(12));
  CHECK(job.actions.empty());
  job.tell(Tick{}, seconds(13));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK_FALSE(job.find<Dump>()->at_good_moment);
  CHECK(job.find<Remark>() != nullptr);
}

TEST_CASE("a good moment of an image that cannot be made ends with the last try") {
  Running job({.before_save = {.moment = seconds(30)}});
  job.tell(SaveAsked{1});
  job.tell(MomentSaid{});
  job.tell(Dumped{false, "a connection is being opened", {}, true}, milliseconds(5));
  // Whoever said it is kept there for the next try, which waits for nothing.
  CHECK(job.find<AskForMoment>() == nullptr);
  job.tell(Tick{}, *job.keeper.wake());
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->at_good_moment);
  job.tell(Dumped{false, "no room", {}});
  REQUIRE(job.find<AskForMoment>() != nullptr);
  CHECK(job.find<AskForMoment>()->failed);
  CHECK_FALSE(job.find<Answer>()->ok);
}

TEST_CASE("the end of a window waits for a good moment ahead of the last one that will do") {
  Running job(
      {.windows = true, .reserve = milliseconds(500), .before_save = {.moment = seconds(5)}});
  job.tell(Forecast{seconds(20)});
  CHECK(job.keeper.wake() == milliseconds(74'500));
  job.tell(Tick{}, milliseconds(74'500));
  CHECK(job.find<AskForMoment>() != nullptr);
  // It needs less time at its good moments, and that is no reason to go on until a bad one.
  job.tell(Forecast{seconds(2)}, seconds(76));
  CHECK(job.actions.empty());
  job.tell(MomentSaid{}, seconds(77));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  job.tell(Dumped{true, {}, "image 1"}, seconds(78));
  CHECK(job.find<HandedBack>()->saved);
}

TEST_CASE("a good moment is not waited for beyond what the forecast allows") {
  Running job(
      {.windows = true, .reserve = milliseconds(500), .before_save = {.moment = seconds(50)}});
  job.tell(Forecast{seconds(20)});
  job.tell(Tick{}, milliseconds(29'500));
  CHECK(job.find<AskForMoment>() != nullptr);
  job.tell(Forecast{seconds(40)}, seconds(30));
  CHECK(job.keeper.wake() == milliseconds(59'500));
  job.tell(Tick{}, milliseconds(59'500));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  CHECK_FALSE(job.find<Dump>()->at_good_moment);
}

TEST_CASE("a machine that is wanted back at once is not kept for a command or a good moment") {
  Running job({.before_save = {.command = seconds(10), .moment = seconds(30)}});
  job.tell(Forecast{seconds(3)});
  job.tell(LeaveAsked{seconds(3)}, seconds(1));
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
  CHECK(job.find<RunCommand>() == nullptr);
}

TEST_CASE("a signal waits for no good moment, but for the command") {
  Running job({.before_save = {.command = seconds(10), .moment = seconds(30)}});
  job.tell(SaveAsked{1});
  REQUIRE(job.find<RunCommand>() != nullptr);
  CHECK(job.find<RunCommand>()->kind == CommandKind::before_save);
  job.tell(CommandEnded{true, {}});
  CHECK(job.find<AskForMoment>() != nullptr);
  job.tell(Interrupted{});
  REQUIRE(job.find<Dump>() != nullptr);
  CHECK(job.find<Dump>()->stop);
}

TEST_CASE("a command that fails is said, and costs no image") {
  Running job({.before_save = {.command = seconds(10)}});
  job.tell(SaveAsked{1});
  CHECK(job.find<Dump>() == nullptr);
  job.tell(CommandEnded{false, "--before-save 'x' has ended with status 1"});
  CHECK(job.find<Remark>()->text == "--before-save 'x' has ended with status 1");
  REQUIRE(job.find<Dump>() != nullptr);
  job.tell(Dumped{true, {}, "image 1"});
  CHECK(job.find<Answer>()->ok);
  CHECK(job.find<Answer>()->text == "image 1; --before-save 'x' has ended with status 1");
  // The next one is another one's.
  job.tell(SaveAsked{2});
  job.tell(CommandEnded{true, {}});
  job.tell(Dumped{true, {}, "image 2"});
  CHECK(job.find<Answer>()->text == "image 2");
}

TEST_CASE("a command after a restart is run where there was an image, and the next image waits") {
  const KeeperSettings settings{.after_restore = seconds(10)};
  Running fresh(settings);
  CHECK(fresh.find<RunCommand>() == nullptr);
  Keeper keeper(settings);
  keeper.begin(Time{});
  keeper.step(Time{}, CapsuleReady{true, {}});
  const auto actions = keeper.step(Time{}, Launched{true, false, {}, false, 3});
  REQUIRE(actions.size() == 1);
  CHECK(std::get<RunCommand>(actions[0]).kind == CommandKind::after_restore);
  CHECK(keeper.step(seconds(1), SaveAsked{1}).empty());
  CHECK(*keeper.wake() > seconds(10));
  CHECK(std::holds_alternative<Dump>(keeper.step(seconds(2), CommandEnded{true, {}})[0]));
}

}  // namespace piracema::ckpt
