#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "jobs/cluster_state.h"
#include "jobs/job_runner.h"
#include "sim/scheduler.h"
#include "sim/seeds.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace jobs;

namespace {

// Longer than any node waits: what is right does not hang on that.
constexpr Time operation_timeout = seconds(4);
// A client that has given up may still be heard.
constexpr Time late_most = seconds(6);

/// What the group agrees on, and a second replica that is replaced by an image now and then.
class Group {
 public:
  explicit Group(Scheduler& scheduler) : scheduler_(scheduler) { tick(); }

  Answer execute(const Operation& operation) {
    const smr::Context context{.time = time()};
    const Buffer bytes = encode(operation);
    const Buffer reply = state_.apply(bytes, context), other = other_->apply(bytes, context);
    REQUIRE(as_text(reply) == as_text(other));
    auto answer = decode_answer(reply);
    REQUIRE(answer.ok());
    return *answer;
  }
  const ClusterState& state() const { return state_; }
  void replace_other() {
    other_ = std::make_unique<ClusterState>();
    REQUIRE(other_->restore(state_.snapshot()()));
  }
  /// Another leader, whose clock is another one.
  void jump(Time by) { ahead_ += by; }

  /// A majority is there.
  bool answers = true;

 private:
  std::uint64_t time() {
    const Time wanted = scheduler_.now() + ahead_ + seconds(1'000'000);
    last_ = std::max(last_, static_cast<std::uint64_t>(wanted.count()));
    return last_;
  }
  void tick() {
    if (answers && state_.next_deadline() && *state_.next_deadline() <= time()) {
      const smr::Context context{.time = time()};
      state_.on_time(context);
      other_->on_time(context);
    }
    scheduler_.after(milliseconds(50), [this] { tick(); });
  }

  Scheduler& scheduler_;
  ClusterState state_;
  std::unique_ptr<ClusterState> other_ = std::make_unique<ClusterState>();
  Time ahead_{};
  std::uint64_t last_ = 0;
};

/// What becomes of a job's process: how long it takes, how it ends each time.
struct Fate {
  Time takes{};
  std::uint32_t fails = 0;
  /// When it is asked to leave; none: it does not listen.
  std::optional<Time> leaves_after;
};

/// Which attempts live, wherever. Of a job never two.
struct Register {
  std::map<JobId, Fate> fates;
  std::map<JobId, std::set<std::pair<std::string, std::uint32_t>>> alive;
  std::map<JobId, std::uint32_t> ends;
  std::set<JobId> succeeded;
};

class Machine {
 public:
  Machine(Scheduler& scheduler, Group& group, Register& all, std::string name)
      : scheduler_(scheduler), group_(group), all_(all), name_(std::move(name)) {
    start();
  }

  void start() {
    if (runner_) return;
    life_ += 1;
    runner_ = std::make_unique<JobRunner>(
        JobRunner::Settings{name_, scheduler_.random().next() | 1, 2, "/d"});
    deliver(JobRunner::Began{});
  }
  /// The processes of jobs are ended by their supervisors, a moment later.
  void crash() {
    runner_.reset();
    life_ += 1;
    frozen_ = false;
    waiting_.clear();
    for (const auto& [attempt, process] : processes_) {
      scheduler_.after(milliseconds(20), [this, attempt = attempt] { vanish(attempt); });
    }
  }
  void freeze() { frozen_ = runner_ != nullptr; }
  void thaw() {
    if (!std::exchange(frozen_, false)) return;
    for (const auto& event : std::exchange(waiting_, {})) deliver(event);
    deliver(JobRunner::Woken{});
  }
  void leave() {
    if (runner_) deliver(JobRunner::LeaveAsked{});
  }
  bool is_up() const { return runner_ && !frozen_ && !cut; }
  const std::string& name() const { return name_; }

  bool cut = false;

 private:
  struct Process {
    Time until{};
    std::uint64_t serial = 0;
    bool asked = false;
  };

  void deliver(const JobRunner::Event& event) {
    if (!runner_) return;
    if (frozen_) {
      waiting_.push_back(event);
      return;
    }
    for (const auto& action : runner_->step(scheduler_.now(), event)) {
      std::visit([this](const auto& what) { act(what); }, action);
    }
    if (!runner_) return;
    if (const auto next = runner_->next_deadline()) {
      scheduler_.at(std::max(*next, scheduler_.now() + milliseconds(1)),
                    [this, life = life_, turn = ++turn_] {
                      if (life == life_ && turn == turn_) deliver(JobRunner::Woken{});
                    });
    }
  }

  // The way there and the way back may fail, each by itself; what a client has given up may be
  // executed long after.
  void act(const JobRunner::Ask& ask) {
    const auto number = ask.question;
    scheduler_.after(operation_timeout, [this, number, life = life_] {
      if (life == life_) deliver(JobRunner::Answered{number, Error{Errc::timeout, "no answer"}});
    });
    if (cut) return;
    const auto way = [this] {
      const bool late = scheduler_.random().below(20) == 0;
      return late ? scheduler_.between(milliseconds(100), late_most)
                  : scheduler_.between(milliseconds(1), milliseconds(20));
    };
    scheduler_.after(way(), [this, number, operation = ask.operation, life = life_, way] {
      if (!group_.answers) return;
      const Answer answer = group_.execute(operation);
      if (cut || scheduler_.random().below(30) == 0) return;
      scheduler_.after(way(), [this, number, answer, life] {
        if (life == life_ && !cut) deliver(JobRunner::Answered{number, answer});
      });
    });
  }
  void act(const JobRunner::Launch& launch) {
    const Attempt attempt = launch.attempt;
    scheduler_.trace(name_, " begins ", attempt.job, ".", attempt.attempt);
    auto& alive = all_.alive[attempt.job];
    alive.insert({name_, attempt.attempt});
    REQUIRE(alive.size() == 1);
    Process& process = processes_[attempt];
    process.until = until_;
    process.serial = ++serial_;
    fence(attempt, process);
    scheduler_.after(all_.fates.at(attempt.job).takes,
                     [this, attempt, serial = process.serial] { by_itself(attempt, serial); });
  }
  void act(const JobRunner::Terminate& terminate) {
    const auto found = processes_.find(terminate.attempt);
    if (found == processes_.end()) return;
    const auto after = terminate.at_once ? std::optional(Time(milliseconds(5)))
                                         : all_.fates.at(terminate.attempt.job).leaves_after;
    if (!after) return;
    scheduler_.after(*after, [this, attempt = terminate.attempt, serial = found->second.serial,
                              at_once = terminate.at_once] {
      end(attempt, serial, End::exited, at_once ? 137 : 75);
    });
  }
  void act(const JobRunner::Extend& extend) {
    until_ = extend.until;
    for (auto& [attempt, process] : processes_) process.until = std::max(process.until, until_);
  }
  void act(const JobRunner::Tell& tell) { scheduler_.trace(name_, ": ", tell.text); }
  void act(const JobRunner::Finish&) {
    scheduler_.trace(name_, " has left");
    CHECK(processes_.empty());
    runner_.reset();
    life_ += 1;
  }

  // The supervisor's clock, whatever the node does.
  void fence(Attempt attempt, const Process& process) {
    scheduler_.at(std::max(process.until, scheduler_.now()),
                  [this, attempt, serial = process.serial] {
                    const auto found = processes_.find(attempt);
                    if (found == processes_.end() || found->second.serial != serial) return;
                    if (scheduler_.now() < found->second.until)
                      return fence(attempt, found->second);
                    end(attempt, serial, End::fenced, 137);
                  });
  }
  void by_itself(Attempt attempt, std::uint64_t serial) {
    const Fate& fate = all_.fates.at(attempt.job);
    const bool fails = all_.ends[attempt.job] < fate.fails;
    end(attempt, serial, End::exited, fails ? 1 : 0);
  }
  void end(Attempt attempt, std::uint64_t serial, End how, std::uint32_t code) {
    const auto found = processes_.find(attempt);
    if (found == processes_.end() || found->second.serial != serial) return;
    scheduler_.trace(name_, " ends ", attempt.job, ".", attempt.attempt, " with ", code);
    if (how == End::exited && code == 1) all_.ends[attempt.job] += 1;
    if (how == End::exited && code == 0) all_.succeeded.insert(attempt.job);
    vanish(attempt);
    deliver(JobRunner::Over{{attempt, how, code, "ended"}});
  }
  void vanish(Attempt attempt) {
    if (processes_.erase(attempt) != 0) {
      all_.alive[attempt.job].erase({name_, attempt.attempt});
    }
  }

  Scheduler& scheduler_;
  Group& group_;
  Register& all_;
  const std::string name_;
  std::unique_ptr<JobRunner> runner_;
  std::uint64_t life_ = 0, turn_ = 0, serial_ = 0;
  bool frozen_ = false;
  std::vector<JobRunner::Event> waiting_;
  std::map<Attempt, Process> processes_;
  Time until_{};
};

class Run {
 public:
  explicit Run(std::uint64_t seed) : scheduler_(seed), group_(scheduler_) {
    for (const char* name : {"a", "b", "c"}) {
      machines_.push_back(std::make_unique<Machine>(scheduler_, group_, all_, name));
    }
    for (int i = 0; i < 12; ++i) {
      scheduler_.after(scheduler_.between({}, seconds(40)), [this] { submit(); });
    }
    for (int i = 0; i < 25; ++i) {
      scheduler_.after(scheduler_.between(seconds(1), seconds(60)), [this] { fault(); });
    }
    // Clocks of leaders are apart, but there is not one leader after the other.
    for (int i = 0; i < 4; ++i) {
      scheduler_.after(seconds(10 + 15 * i),
                       [this] { group_.jump(scheduler_.between({}, seconds(20)) - seconds(10)); });
    }
  }

  void check() {
    scheduler_.run_until(Time(seconds(70)));
    for (const auto& machine : machines_) {
      machine->cut = false;
      machine->thaw();
      machine->start();
      group_.execute(Drain{machine->name(), false});
    }
    group_.answers = true;
    const bool over = scheduler_.run_until(
        [this] {
          return std::ranges::all_of(group_.state().jobs(),
                                     [](const auto& job) { return is_over(job.second.state); });
        },
        Time(seconds(600)));
    CHECK(over);
    for (const auto& [id, job] : group_.state().jobs()) {
      CHECK((job.state != JobState::done || all_.succeeded.contains(id)));
      CHECK(job.failures <= job.spec.retries + 1);
      if (job.state == JobState::failed) {
        const bool too_often = job.failures > job.spec.retries;
        CHECK((too_often || job.losses >= ClusterState::losses_max));
      }
      if (job.state == JobState::cancelled) CHECK(job.cancelled);
    }
    for (const auto& [name, node] : group_.state().nodes()) CHECK(node.used == 0);
  }

 private:
  void submit() {
    if (!group_.answers) return scheduler_.after(seconds(1), [this] { submit(); });
    Random& random = scheduler_.random();
    const auto answer =
        group_.execute(Submit{{.name = "job",
                               .command = {"x"},
                               .slots = 1 + static_cast<std::uint32_t>(random.below(2)),
                               .retries = static_cast<std::uint32_t>(random.below(3))}});
    Fate& fate = all_.fates[answer.job];
    fate.takes = scheduler_.between(milliseconds(100), seconds(8));
    fate.fails = static_cast<std::uint32_t>(random.below(3));
    if (random.below(3) != 0) fate.leaves_after = scheduler_.between({}, seconds(5));
  }

  void fault() {
    Random& random = scheduler_.random();
    Machine& machine = *machines_[random.below(machines_.size())];
    const Time lasts = scheduler_.between(milliseconds(100), seconds(12));
    const auto later = [&](std::function<void()> what) {
      scheduler_.after(lasts, std::move(what));
    };
    switch (random.below(8)) {
      case 0:
        scheduler_.trace(machine.name(), " stands still");
        machine.freeze();
        return later([&machine] { machine.thaw(); });
      case 1:
        scheduler_.trace(machine.name(), " crashes");
        machine.crash();
        return later([&machine] { machine.start(); });
      case 2:
        scheduler_.trace(machine.name(), " is cut off");
        machine.cut = true;
        return later([&machine] { machine.cut = false; });
      case 3:
        scheduler_.trace("no majority");
        group_.answers = false;
        return later([this] { group_.answers = true; });
      case 4:
        if (group_.answers) group_.execute(Drain{machine.name(), true});
        return later([this, &machine] {
          if (group_.answers) group_.execute(Drain{machine.name(), false});
        });
      case 5:
        if (group_.answers) group_.execute(Cancel{1 + random.below(12)});
        return;
      case 6:
        machine.leave();
        return later([&machine] { machine.start(); });
      default:
        return group_.replace_other();
    }
  }

  Scheduler scheduler_;
  Register all_;
  Group group_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace

TEST_CASE("of a job one attempt is alive at a time, and each job is over in the end") {
  for (const auto seed : seeds(5'000)) Run(seed).check();
}

}  // namespace piracema::sim
