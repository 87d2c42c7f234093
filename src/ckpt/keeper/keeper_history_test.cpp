#include "ckpt/keeper/keeper_history.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

using std::chrono::milliseconds;
using std::chrono::seconds;
using DumpOutcome = KeeperFigures::Outcome;

namespace {

/// A keeper and its history, which hear the same.
struct Kept {
  explicit Kept(KeeperSettings settings = {})
      : keeper(settings),
        history({.command = {"/bin/app", "1"}, .host_name = "here"}, "/var/tmp/job", settings,
                "--for 2h", Time{}) {
    history.began(time, keeper, keeper.begin(time));
  }
  void tell(const KeeperEvent& event, Time at = {}) {
    time = std::max(time, at);
    const auto actions = keeper.step(time, event);
    history.heard(time, keeper, event, actions);
  }
  void run(std::optional<std::uint64_t> image = {}) {
    tell(CapsuleReady{true, {}});
    tell(Launched{true, false, {}, false, image});
  }
  void forecast(double p50, double p95) {
    Outlook outlook{.forecast = {.p50 = p50, .p95 = p95, .p99 = 2 * p95}, .learnt = 3};
    history.looked({.resident = 1'000, .swapped = 0, .processes = 3}, outlook);
  }
  void save(SavedImage saved) {
    tell(SaveAsked{1});
    tell(Dumped{true, {}, "an image", false, saved});
  }
  KeeperFigures figures() const { return history.figures(time, keeper); }
  KeeperFigures::Checkpoint last() const { return figures().checkpoints.back(); }

  Time time{};
  Keeper keeper;
  KeeperHistory history;
};

}  // namespace

TEST_CASE("a job is shown with its command, its host and where its images lie") {
  const Kept kept;
  const auto figures = kept.figures();
  CHECK(figures.command == std::vector<std::string>{"/bin/app", "1"});
  CHECK(figures.hosts == std::vector<std::string>{"here"});
  CHECK(figures.directory == "/var/tmp/job");
  CHECK(figures.state == Keeper::State::opening);
  CHECK(!figures.forecast);
  CHECK(!figures.closes);
}

TEST_CASE("a checkpoint is shown with what was forecast of it and what it took") {
  Kept kept;
  kept.run();
  kept.forecast(2, 5);
  kept.tell(SaveAsked{1}, seconds(3));
  CHECK(kept.last().outcome == DumpOutcome::under_way);
  CHECK(kept.last().at == Time(seconds(3)));
  CHECK(kept.figures().state == Keeper::State::saving);
  // What is forecast of the next one changes nothing.
  kept.forecast(20, 50);
  kept.tell(Dumped{true, {}, {}, false, {7, 1'000, milliseconds(2'500), milliseconds(90)}},
            seconds(6));
  const auto one = kept.last();
  CHECK(one.outcome == DumpOutcome::saved);
  CHECK(one.forecast.p50 == 2);
  CHECK(one.forecast.p95 == 5);
  CHECK(one.image == 7);
  CHECK(one.bytes == 1'000);
  CHECK(one.took == Time(milliseconds(2'500)));
  CHECK(one.frozen == Time(milliseconds(90)));
  CHECK_FALSE(one.stops);
  const auto figures = kept.figures();
  CHECK(figures.saved == 1);
  CHECK(figures.saved_bytes == 1'000);
  CHECK(figures.over_p50 == 1);
  CHECK(figures.over_p95 == 0);
  CHECK(figures.processes == 2);
  CHECK(figures.state == Keeper::State::running);
  CHECK(figures.forecast->p50 == 20);
}

TEST_CASE("nothing is forecast for a job that does not run") {
  Kept kept;
  // The capsule is there, and the job is not.
  kept.history.looked({.resident = 1'000, .processes = 1},
                      Outlook{.forecast = {.p50 = 1, .p95 = 2, .p99 = 3}, .learnt = 4});
  CHECK(!kept.figures().forecast);
  CHECK(kept.figures().learnt == 4);
  kept.run();
  kept.save({1, 10, seconds(1), milliseconds(1)});
  CHECK(kept.figures().over_p50 == 0);
}

TEST_CASE("what is ours on several hosts is no process of the job") {
  const KeeperSettings settings;
  Keeper keeper(settings);
  KeeperHistory history({.hosts = {"a", "b", "c"}}, "/job", settings, "", Time{});
  history.looked({.resident = 1'000, .processes = 5}, {});
  CHECK(history.figures(Time{}, keeper).processes == 0);
  history.looked({.resident = 1'000, .processes = 9}, {});
  CHECK(history.figures(Time{}, keeper).processes == 4);
  CHECK(history.figures(Time{}, keeper).hosts.size() == 3);
}

TEST_CASE("a checkpoint that fails is shown with why, and the job goes on") {
  Kept kept;
  kept.run();
  kept.tell(SaveAsked{1});
  kept.tell(Dumped{false, "no room", {}}, seconds(2));
  CHECK(kept.last().outcome == DumpOutcome::failed);
  CHECK(kept.last().why == "no room");
  CHECK(kept.last().took == Time(seconds(2)));
  CHECK(kept.figures().failed == 1);
  CHECK(kept.figures().saved == 0);
  CHECK(kept.figures().state == Keeper::State::running);
}

TEST_CASE("a checkpoint that is tried again because something passes is one checkpoint") {
  Kept kept;
  kept.run();
  kept.tell(SaveAsked{1});
  for (int i = 0; i < 3; ++i) {
    kept.tell(Dumped{false, "a connection is being opened", {}, true});
    CHECK(kept.last().outcome == DumpOutcome::under_way);
    kept.tell(Tick{}, *kept.keeper.wake());
  }
  kept.tell(Dumped{true, {}, {}, false, {1, 10, milliseconds(5), milliseconds(1)}});
  CHECK(kept.figures().checkpoints.size() == 1);
  CHECK(kept.last().tries == 4);
  CHECK(kept.last().outcome == DumpOutcome::saved);
  CHECK(kept.last().why.empty());
  CHECK(kept.figures().failed == 0);
  // One that does not pass fails once.
  kept.tell(SaveAsked{2});
  while (kept.last().outcome == DumpOutcome::under_way) {
    kept.tell(Dumped{false, "it does not pass", {}, true});
    if (kept.last().outcome == DumpOutcome::under_way) kept.tell(Tick{}, *kept.keeper.wake());
  }
  CHECK(kept.last().outcome == DumpOutcome::failed);
  CHECK(kept.last().tries > 4);
  CHECK(kept.figures().failed == 1);
  CHECK(kept.figures().checkpoints.size() == 2);
}

TEST_CASE("a window is shown with when it closes and why, and when the last checkpoint begins") {
  Kept kept({.every = seconds(50), .windows = true});
  kept.history.waits(seconds(10));
  CHECK(kept.figures().state == Keeper::State::away);
  CHECK(kept.figures().opens == Time(seconds(10)));
  kept.tell(Forecast{seconds(4), seconds(1)}, seconds(10));
  kept.tell(WindowOpened{seconds(100)});
  kept.run();
  auto figures = kept.figures();
  CHECK(!figures.opens);
  CHECK(figures.opened == Time(seconds(10)));
  CHECK(figures.closes == Time(seconds(100)));
  CHECK(figures.closes_why == "--for 2h");
  CHECK(figures.stop_at == Time(seconds(95)));
  CHECK(figures.save_at == Time(seconds(60)));
  CHECK(figures.planned == Time(seconds(4)));
  kept.tell(LeaveAsked{seconds(40)}, seconds(20));
  figures = kept.figures();
  CHECK(figures.closes == Time(seconds(40)));
  CHECK(figures.closes_why == "the machine was asked for");
  CHECK(figures.stop_at == Time(seconds(35)));
  // A later end is none.
  kept.tell(LeaveAsked{seconds(90)});
  CHECK(kept.figures().closes == Time(seconds(40)));
  kept.tell(Tick{}, seconds(35));
  CHECK(kept.last().stops);
  CHECK(kept.figures().state == Keeper::State::stopping);
  kept.tell(Dumped{true, {}, {}, false, {1, 10, seconds(1), seconds(1)}}, seconds(36));
  figures = kept.figures();
  CHECK(figures.left_saved == 1);
  CHECK(figures.left_unsaved == 0);
  CHECK(!figures.closes);
  CHECK(!figures.stop_at);
  CHECK(figures.troubles.empty());
  CHECK(figures.state == Keeper::State::away);
}

TEST_CASE("a checkpoint that is not complete when the window closes was given up") {
  Kept kept({.windows = true});
  kept.tell(Forecast{seconds(4), seconds(1)});
  kept.tell(WindowOpened{seconds(100)});
  kept.run();
  kept.tell(Tick{}, seconds(95));
  kept.tell(Tick{}, seconds(99));
  const auto figures = kept.figures();
  CHECK(kept.last().outcome == DumpOutcome::given_up);
  CHECK(figures.given_up == 1);
  CHECK(figures.left_unsaved == 1);
  REQUIRE(figures.troubles.size() == 1);
  CHECK(figures.troubles[0].text == "not saved in time: it goes on from the image before");
}

TEST_CASE("launches are counted, and what went wrong with them is told") {
  Kept kept;
  kept.tell(CapsuleReady{true, {}});
  kept.tell(Launched{false, true, "image 2 is damaged"});
  kept.run(1);
  const auto figures = kept.figures();
  CHECK(figures.launched == 1);
  CHECK(figures.launches_failed == 1);
  CHECK(figures.image == 1);
  REQUIRE(figures.troubles.size() == 1);
  CHECK(figures.troubles[0].text == "image 2 is damaged; going back to the image before it");
}

TEST_CASE("how a job has ended is told") {
  Kept kept;
  kept.run();
  kept.tell(SaveAsked{1});
  kept.tell(JobEnded{0x0700});
  CHECK(kept.figures().end == "the job has ended with status 7");
  CHECK(kept.figures().state == Keeper::State::over);
  CHECK(kept.last().outcome == DumpOutcome::failed);
  Kept other;
  other.run();
  other.tell(CapsuleDied{{}});
  CHECK(other.figures().end.find("killed by somebody") != std::string::npos);
  CHECK(other.figures().troubles.size() == 1);
}

TEST_CASE("the newest checkpoints are kept, and all are counted") {
  Kept kept;
  kept.run();
  const std::size_t all = KeeperHistory::checkpoints_kept + 5;
  for (std::size_t i = 1; i <= all; ++i) kept.save({i, 1, milliseconds(1), {}});
  CHECK(kept.figures().checkpoints.size() == KeeperHistory::checkpoints_kept);
  CHECK(kept.figures().checkpoints.front().image == 6);
  CHECK(kept.last().image == all);
  CHECK(kept.figures().saved == all);
}

}  // namespace piracema::ckpt
