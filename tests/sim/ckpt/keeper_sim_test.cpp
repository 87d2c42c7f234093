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
/// users who ask for things, and a job that has so much to do.
class World {
 public:
  World(std::uint64_t seed, Time work)
      : scheduler_(seed), work_(work), keeper_({.every = every(), .windows = true}) {}

  void run(Time limit) {
    handle(keeper_.begin(scheduler_.now()));
    open_window();
    ask_now_and_then();
    scheduler_.run_until([this] { return finish_.has_value(); }, limit);
  }

  const std::optional<Finish>& finish() const { return finish_; }
  /// Asked and not answered, or answered twice.
  int open_questions() const { return asked_ - answered_; }
  int windows() const { return windows_; }
  int saved() const { return saved_; }
  int shed() const { return shed_; }

 private:
  std::optional<Time> every() {
    if (scheduler_.random().chance(0.5)) return std::nullopt;
    return scheduler_.between(seconds(2), seconds(60));
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

  void act(const OpenCapsule&) {
    CHECK_FALSE(alive_);
    alive_ = true;
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
        running_since_ = scheduler_.now();
        running_ = true;
        from_capsule(work_ - done_, [this] { end_job(); });
      }
      tell(Launched{ok, !ok, "a bad image"});
    });
  }
  void end_job() {
    // A job that was frozen meanwhile has more to do still.
    if (!running_ || progress() < work_) {
      return from_capsule(milliseconds(100), [this] { end_job(); });
    }
    tell(JobEnded{3});
  }
  Time progress() const { return running_ ? done_ + (scheduler_.now() - running_since_) : done_; }

  void act(const Dump& dump) {
    CHECK_FALSE(dumping_);
    dumping_ = true;
    done_ = progress();
    running_ = false;
    if (scheduler_.random().chance(0.03)) return;  // The store hangs.
    from_capsule(scheduler_.between(milliseconds(10), seconds(6)), [this, dump] {
      dumping_ = false;
      const bool ok = scheduler_.random().chance(0.85);
      if (ok) images_[++image_] = done_;
      if (!ok || !dump.stop) {
        running_ = true;
        running_since_ = scheduler_.now();
      }
      tell(Dumped{ok, "no room", "image"});
    });
  }
  void act(const KillCapsule&) {
    CHECK(alive_);
    alive_ = running_ = dumping_ = false;
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
  Keeper keeper_;
  Time closes_{}, running_since_{}, done_{};
  bool alive_ = false, running_ = false, dumping_ = false;
  std::uint64_t life_ = 0, turns_ = 0;
  /// Complete images: how far the job was.
  std::map<int, Time> images_;
  int image_ = 0, asked_ = 0, answered_ = 0, windows_ = 0, saved_ = 0, shed_ = 0;
  std::optional<Finish> finish_;
};

}  // namespace

TEST_CASE(
    "whatever store and users do, machines are handed back in time and the job ends with its own "
    "result") {
  int windows = 0, saved = 0, shed = 0;
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
  }
  // Both ways out of a window were gone.
  CHECK(saved > windows / 10);
  CHECK(shed > windows / 100);
}

}  // namespace piracema::sim
