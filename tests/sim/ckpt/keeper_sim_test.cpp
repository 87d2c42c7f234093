#include <doctest/doctest.h>

#include <map>
#include <optional>

#include "ckpt/keeper/keeper.h"
#include "sim/scheduler.h"
#include "sim/seeds.h"

namespace piracema::sim {

using namespace ckpt;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// A machine that is lent for some time again and again, a store that is slow, fails and hangs,
/// users who ask for things, and a job that has so much to do. It may say when an image does least
/// harm, and stands still then until it is let go on; and users may have commands run.
class World {
 public:
  World(std::uint64_t seed, Time work) : scheduler_(seed), work_(work), keeper_(draw()) {}

  void run(Time limit) {
    handle(keeper_.begin(scheduler_.now()));
    open_window();
    ask_now_and_then();
    suspend_now_and_then();
    scheduler_.run_until([this] { return finish_.has_value(); }, limit);
  }

  const std::optional<Finish>& finish() const { return finish_; }
  /// Asked and not answered, or answered twice.
  int open_questions() const { return asked_ - answered_; }
  int windows() const { return windows_; }
  int saved() const { return saved_; }
  int shed() const { return shed_; }
  int said() const { return said_; }
  int paused() const { return paused_times_; }
  int at_good_moments() const { return at_good_moments_; }

 private:
  std::optional<Time> maybe(Time least, Time most) {
    if (scheduler_.random().chance(0.5)) return std::nullopt;
    return scheduler_.between(least, most);
  }
  KeeperSettings draw() {
    return {.every = maybe(seconds(2), seconds(60)),
            .windows = true,
            .before_save = {.command = command_within_ = maybe(milliseconds(10), seconds(10)),
                            .moment = maybe(milliseconds(10), seconds(30))},
            .after_restore = restored_within_ = maybe(milliseconds(10), seconds(10))};
  }

  void tell(const KeeperEvent& event) {
    handle(keeper_.step(scheduler_.now(), event));
    // As the real driver: one timer, for what the keeper wants to be told of.
    const std::uint64_t turn = ++turns_;
    if (const auto due = keeper_.wake()) {
      scheduler_.at(std::max(*due, scheduler_.now()), [this, turn] {
        if (turn == turns_) tell(Tick{});
      });
    }
  }
  void handle(const std::vector<KeeperAction>& actions) {
    for (const KeeperAction& action : actions) {
      std::visit([this](const auto& a) { act(a); }, action);
    }
  }
  /// Comes only if the capsule still lives by then.
  void from_capsule(Time delay, std::function<void()> what) {
    scheduler_.after(delay, [this, life = life_, what = std::move(what)] {
      if (life == life_ && alive_) what();
    });
  }

  void open_window() {
    if (finish_) return;
    windows_ += 1;
    closes_ = scheduler_.now() + scheduler_.between(milliseconds(100), seconds(120));
    // Right, or badly wrong.
    tell(Forecast{scheduler_.between(milliseconds(10), seconds(5))});
    tell(WindowOpened{closes_});
    scheduler_.at(closes_, [this] {
      CHECK_FALSE(alive_);  // The machine was promised.
      scheduler_.after(scheduler_.between(seconds(1), seconds(600)), [this] { open_window(); });
    });
  }
  void ask_now_and_then() {
    scheduler_.after(scheduler_.between(seconds(1), seconds(40)), [this] {
      if (finish_) return;
      asked_ += 1;
      tell(SaveAsked{static_cast<Caller>(asked_)});
      ask_now_and_then();
    });
  }

  // A user comes to the machine, and goes.
  void suspend_now_and_then() {
    scheduler_.after(scheduler_.between(seconds(1), seconds(200)), [this] {
      if (finish_) return;
      tell(Suspended{true});
      scheduler_.after(scheduler_.between(milliseconds(10), seconds(60)), [this] {
        if (finish_) return;
        tell(Suspended{false});
        CHECK_FALSE(paused_);
        suspend_now_and_then();
      });
    });
  }

  void act(const OpenCapsule&) {
    CHECK_FALSE(alive_);
    alive_ = true;
    paused_ = false;
    life_ += 1;
    from_capsule(milliseconds(20), [this] { tell(CapsuleReady{true, {}}); });
  }
  void act(const Launch& launch) {
    CHECK(launch.attempt <= images_.size());
    const bool ok = scheduler_.random().chance(0.9) || launch.attempt + 1 >= images_.size();
    from_capsule(scheduler_.between(milliseconds(10), seconds(2)), [this, launch, ok] {
      if (ok) {
        auto image = images_.rbegin();
        std::advance(image, launch.attempt);
        done_ = image == images_.rend() ? Time{} : image->second;
        go_on();
        from_capsule(work_ - done_, [this] { end_job(); });
      }
      const auto image =
          launch.attempt < images_.size() ? std::optional(std::uint64_t{1}) : std::nullopt;
      tell(Launched{ok, !ok, "a bad image", false, image});
    });
  }
  void end_job() {
    // A job that was frozen meanwhile has more to do still.
    if (!running_ || progress() < work_) {
      return from_capsule(milliseconds(100), [this] { end_job(); });
    }
    tell(JobEnded{3});
  }
  void go_on() {
    running_ = true;
    running_since_ = scheduler_.now();
  }
  void stand_still() {
    done_ = progress();
    running_ = false;
  }
  Time progress() const { return running_ ? done_ + (scheduler_.now() - running_since_) : done_; }

  void act(const Pause& pause) {
    CHECK(alive_);
    CHECK_FALSE(dumping_);
    CHECK(pause.still != paused_);
    paused_ = pause.still;
    if (waits_) return;
    paused_ ? stand_still() : go_on();
    paused_times_ += paused_ ? 1 : 0;
  }
  void act(const Dump& dump) {
    CHECK_FALSE(dumping_);
    CHECK_FALSE(paused_);
    CHECK(dump.at_good_moment == waits_);
    at_good_moments_ += dump.at_good_moment ? 1 : 0;
    dumping_ = true;
    has_command_ = false;
    stand_still();
    if (scheduler_.random().chance(0.03)) return;  // The store hangs.
    from_capsule(scheduler_.between(milliseconds(10), seconds(6)), [this, dump] {
      dumping_ = false;
      const bool ok = scheduler_.random().chance(0.85);
      if (ok) images_[++image_] = done_;
      // A capsule lets whoever waits go on with an image, and keeps him for another try without
      // one.
      if (ok) wanted_ = waits_ = false;
      if ((!ok || !dump.stop) && !waits_) go_on();
      tell(Dumped{ok, "no room", "image"});
    });
  }
  void act(const KillCapsule&) {
    CHECK(alive_);
    alive_ = running_ = dumping_ = wanted_ = waits_ = has_command_ = paused_ = false;
  }
  void act(const RunCommand& run) {
    CHECK(alive_);
    CHECK_FALSE(has_command_);
    has_command_ = true;
    const auto most = run.kind == CommandKind::before_save ? command_within_ : restored_within_;
    REQUIRE(most);
    const std::uint64_t command = ++commands_;
    from_capsule(scheduler_.between(milliseconds(1), *most + milliseconds(500)), [this, command] {
      if (command != commands_ || !has_command_) return;
      has_command_ = false;
      tell(CommandEnded{scheduler_.random().chance(0.8), "it failed"});
    });
  }
  // Some say it soon, and others never.
  void act(const AskForMoment& ask) {
    CHECK(alive_);
    if (!ask.wanted) {
      if (waits_) go_on();
      wanted_ = waits_ = false;
      return;
    }
    CHECK_FALSE(wanted_);
    wanted_ = true;
    const std::uint64_t question = ++questions_;
    from_capsule(scheduler_.between(milliseconds(10), seconds(60)), [this, question] {
      if (question != questions_ || !wanted_ || dumping_ || !running_) return;
      stand_still();
      waits_ = true;
      said_ += 1;
      tell(MomentSaid{});
    });
  }
  void act(const Answer&) { answered_ += 1; }
  void act(const HandedBack& back) {
    CHECK_FALSE(alive_);
    (back.saved ? saved_ : shed_) += 1;
  }
  void act(const Finish& finish) { finish_ = finish; }
  void act(const Remark&) {}

  Scheduler scheduler_;
  const Time work_;
  std::optional<Time> command_within_, restored_within_;
  Keeper keeper_;
  Time closes_{}, running_since_{}, done_{};
  bool alive_ = false, running_ = false, dumping_ = false;
  /// An image waits for a good moment; the job has said that it is one, and waits for the answer.
  bool wanted_ = false, waits_ = false;
  bool has_command_ = false;
  /// It was told to stand still.
  bool paused_ = false;
  int paused_times_ = 0;
  std::uint64_t life_ = 0, turns_ = 0, commands_ = 0, questions_ = 0;
  /// Complete images: how far the job was.
  std::map<int, Time> images_;
  int image_ = 0, asked_ = 0, answered_ = 0, windows_ = 0, saved_ = 0, shed_ = 0;
  int said_ = 0, at_good_moments_ = 0;
  std::optional<Finish> finish_;
};

}  // namespace

TEST_CASE(
    "whatever store and users do, machines are handed back in time and the job ends with its own "
    "result") {
  int windows = 0, saved = 0, shed = 0, said = 0, at_good_moments = 0, paused = 0;
  for (const auto seed : seeds(1'000)) {
    World world(seed, seconds(300));
    world.run(std::chrono::hours(100));
    REQUIRE(world.finish());
    CHECK(world.finish()->end == End::job_ended);
    CHECK(world.finish()->status == 3);
    CHECK(world.open_questions() == 0);
    windows += world.windows();
    saved += world.saved();
    shed += world.shed();
    said += world.said();
    paused += world.paused();
    at_good_moments += world.at_good_moments();
  }
  // Both ways out of a window were gone.
  CHECK(saved > windows / 10);
  CHECK(shed > windows / 100);
  CHECK(paused > windows / 100);
  // Nobody says it in vain, but where his machine is handed back at that moment.
  CHECK(said > windows / 10);
  CHECK(at_good_moments >= said);
}

}  // namespace piracema::sim
