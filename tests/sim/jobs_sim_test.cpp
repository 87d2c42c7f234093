#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "jobs/cluster_state.h"
#include "jobs/job_runner.h"
#include "jobs/placement.h"
#include "jobs/testing.h"
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
// A busy machine takes so long to end a process that is killed.
constexpr Time ending_most = milliseconds(800);

/// What the group agrees on, and a second replica that is replaced by an image now and then.
class Group {
 public:
  explicit Group(Scheduler& scheduler) : scheduler_(scheduler) { tick(); }

  Answer execute(const Operation& operation) {
    const std::uint64_t client = jobs::testing::honest_client(operation);
    if (scheduler_.random().below(20) == 0) steal(operation, client);
    const Answer answer = apply(operation, client);
    look();
    return answer;
  }
  /// Answered once there is news; whoever has asked may be gone by then.
  void hold(const Operation& question, std::function<void(const Answer&)> answered) {
    held_.push_back({encode(question), std::move(answered)});
    look();
  }
  const ClusterState& state() const { return state_; }
  void replace_other() {
    other_ = std::make_unique<ClusterState>();
    REQUIRE(other_->restore(smr::bytes_of(state_.snapshot())));
  }
  /// Another leader, whose clock is another one.
  void jump(Time by) { ahead_ += by; }

  /// A majority is there.
  bool answers = true;

 private:
  Answer apply(const Operation& operation, std::uint64_t client) {
    const smr::Context context{.time = time(), .client = client};
    const Buffer bytes = encode(operation);
    const auto changes = state_.changes();
    const Buffer reply = state_.apply(bytes, context), other = other_->apply(bytes, context);
    REQUIRE(as_text(reply) == as_text(other));
    if (state_.changes() == changes && ++quiet_ % 16 == 0) {
      all_is_placed();
      REQUIRE_FALSE(any_news());
    }
    auto answer = decode_answer(reply);
    REQUIRE(answer.ok());
    return *answer;
  }
  // Another node says the same.
  void steal(const Operation& operation, std::uint64_t client) {
    const auto* const join = std::get_if<Join>(&operation);
    if (join != nullptr && !state_.nodes().contains(join->node)) return;  // It would be its name.
    const auto answer = apply(operation, client + 1);
    CHECK(answer.verdict != Answer::Verdict::done);
  }

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
      look();
    }
    scheduler_.after(milliseconds(50), [this] { tick(); });
  }

  // What a node says changes nothing as a rule, and then nobody looks for places. There are none.
  void all_is_placed() const {
    auto jobs = state_.jobs();
    REQUIRE(place(jobs, state_.nodes()).empty());
    const bool same = std::equal(jobs.begin(), jobs.end(), state_.jobs().begin(),
                                 [](auto& a, auto& b) { return a.second.why == b.second.why; });
    REQUIRE(same);
  }
  // Of a replica that is asked again only where there may be some.
  bool any_news() const {
    return std::any_of(held_.begin(), held_.end(), [this](const auto& held) {
      return state_.has_news(state_.query(held.first));
    });
  }

  void look() {
    std::erase_if(held_, [this](const auto& held) {
      const Buffer reply = state_.query(held.first);
      if (!state_.has_news(reply)) return false;
      const auto answer = decode_answer(reply);
      REQUIRE(answer.ok());
      held.second(*answer);
      return true;
    });
  }

  Scheduler& scheduler_;
  std::vector<std::pair<Buffer, std::function<void(const Answer&)>>> held_;
  ClusterState state_;
  std::unique_ptr<ClusterState> other_ = std::make_unique<ClusterState>();
  Time ahead_{};
  std::uint64_t last_ = 0;
  /// Operations that have changed nothing.
  std::uint64_t quiet_ = 0;
};

/// What becomes of a job's process: how long it takes, how it ends each time.
struct Fate {
  Time takes{};
  /// It has parts run on other nodes, again and again.
  bool spans = false;
  std::uint32_t fails = 0;
  /// When it is asked to leave; none: it does not listen.
  std::optional<Time> leaves_after;
};

/// Planted, to see that it is found.
enum class Mistake {
  none,
  /// A node says that it has nothing of a part as soon as it was told to end it.
  says_too_early,
};

/// Which attempts live, wherever. Of a job never two, and of an attempt nothing twice.
struct Register {
  void begins(const std::string& node, const Attempt& attempt) {
    auto& all = alive[attempt.job];
    for (const auto& [where, other] : all) {
      const bool is_other = other.attempt == attempt.attempt && other.part != attempt.part;
      if (!is_other) broken += 1;
    }
    all.insert({node, attempt});
    if (is_beside(attempt)) {
      // What a user has asked for once is done once.
      REQUIRE(beside.insert(attempt).second);
    } else {
      parts += attempt.part != 0 ? 1 : 0;
    }
  }

  Mistake mistake = Mistake::none;
  std::uint32_t broken = 0, parts = 0, parts_over = 0;
  /// How often a command was told of other nodes, and a part was asked to leave before its command.
  std::uint32_t told = 0, parts_asked = 0;
  /// Machines that their owners have had back with jobs that ran there when they asked; and those
  /// where something of a job was there still, or began.
  std::uint32_t given_back = 0, late = 0;
  std::map<JobId, Fate> fates;
  std::map<JobId, std::set<std::pair<std::string, Attempt>>> alive;
  std::map<JobId, std::uint32_t> ends;
  std::set<JobId> succeeded;
  /// What was run beside commands.
  std::set<Attempt> beside;
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
        JobRunner::Settings{name_, scheduler_.random().next() | 1, 2, "/d", "h"});
    deliver(JobRunner::LeavingTakes{scheduler_.between(seconds(1), seconds(4)), ending_most});
    deliver(lent_);
    deliver(JobRunner::Began{});
  }
  /// The processes of jobs are ended by their supervisors, a moment later.
  void crash() {
    runner_.reset();
    life_ += 1;
    frozen_ = false;
    waiting_.clear();
    unheard_.clear();
    asked_.clear();
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
  /// Its owner wants it back by then, for so long.
  void lend(Time closes, Time away) {
    if (lent_.gone_by) return;
    const bool has_jobs = !processes_.empty();
    lent_.gone_by = closes;
    deliver(lent_);
    scheduler_.at(closes, [this] {
      lent_ = {false, lent_.gone_by, "its user is there"};
      deliver(lent_);
    });
    // A supervisor whose node has died a moment ago takes a moment.
    scheduler_.at(closes + milliseconds(21), [this, has_jobs] {
      scheduler_.trace(name_, " is its owner's");
      all_.late += processes_.empty() ? 0 : 1;
      all_.given_back += has_jobs ? 1 : 0;
    });
    scheduler_.at(closes + away, [this] {
      lent_ = {};
      deliver(lent_);
    });
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
    if (const auto* over = std::get_if<JobRunner::Over>(&event)) {
      unheard_.erase(over->ended.attempt);
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
    Operation asked = ask.operation;
    if (all_.mistake == Mistake::says_too_early) forget_killed(asked);
    scheduler_.after(way(), [this, number, operation = asked, life = life_, way] {
      if (!group_.answers) return;
      const Answer answer = group_.execute(operation);
      if (cut || scheduler_.random().below(30) == 0) return;
      scheduler_.after(way(), [this, number, answer, life] {
        if (life == life_ && !cut) deliver(JobRunner::Answered{number, answer});
      });
    });
  }
  void act(const JobRunner::Await& await) {
    const auto number = await.question;
    scheduler_.after(seconds(12), [this, number, life = life_] {
      if (life == life_) deliver(JobRunner::Awaited{number, Error{Errc::timeout, "no answer"}});
    });
    if (cut) return;
    group_.hold(await.operation, [this, number, life = life_](const Answer& answer) {
      if (life != life_ || cut || scheduler_.random().below(10) == 0) return;
      scheduler_.after(scheduler_.between(milliseconds(1), milliseconds(20)),
                       [this, number, answer, life] {
                         if (life == life_ && !cut) deliver(JobRunner::Awaited{number, answer});
                       });
    });
  }
  void act(const JobRunner::Launch& launch) {
    const Attempt attempt = launch.attempt;
    all_.late += lent_.is_lent ? 0 : 1;
    scheduler_.trace(name_, " begins ", attempt.job, ".", attempt.attempt, ".", attempt.part);
    all_.begins(name_, attempt);
    if (all_.mistake == Mistake::none) REQUIRE(all_.broken == 0);
    Process& process = processes_[attempt];
    process.until = until_;
    process.serial = ++serial_;
    fence(attempt, process);
    const Fate& fate = all_.fates.at(attempt.job);
    if (attempt.part != 0) {
      const Attempt command{attempt.job, attempt.attempt};
      REQUIRE((!is_beside(attempt) || processes_.contains(command) || unheard_.contains(command)));
      // Some end by themselves.
      if (scheduler_.random().below(3) != 0) return;
      scheduler_.after(
          scheduler_.between({}, seconds(3)),
          [this, attempt, serial = process.serial] { end(attempt, serial, End::exited, 0); });
      return;
    }
    if (fate.spans) {
      for (const std::string& host : launch.hosts) {
        ask_for_part(attempt, process.serial, host.substr(0, host.find('=')));
      }
    }
    scheduler_.after(fate.takes,
                     [this, attempt, serial = process.serial] { by_itself(attempt, serial); });
  }
  // As a stream calls its hosts: again when one is lost, and not for ever.
  void ask_for_part(const Attempt& attempt, std::uint64_t serial, const std::string& node) {
    const auto found = processes_.find(attempt);
    if (found == processes_.end() || found->second.serial != serial || frozen_) return;
    const Attempt part{attempt.job, attempt.attempt, ++parts_};
    asked_[part] = {serial, node};
    deliver(JobRunner::PartAsked{{part, node, {"agent"}, "line"}});
    if (scheduler_.random().below(6) != 0) return;
    scheduler_.after(scheduler_.between({}, seconds(2)), [this, part] {
      if (asked_.erase(part) != 0 && !frozen_) deliver(JobRunner::PartDropped{part});
    });
  }
  void act(const JobRunner::PartOver& over) {
    const auto asked = asked_.extract(over.ended.attempt);
    if (asked.empty()) return;
    all_.parts_over += 1;
    const Attempt command{over.ended.attempt.job, over.ended.attempt.attempt};
    scheduler_.after(scheduler_.between(milliseconds(50), seconds(1)),
                     [this, command, asked = asked.mapped()] {
                       ask_for_part(command, asked.serial, asked.node);
                     });
  }
  // It has parts run on those that are new, and goes on asking those that are gone until it is
  // refused.
  void act(const JobRunner::HostsChanged& changed) {
    const auto command = processes_.find(changed.attempt);
    if (command == processes_.end()) return;
    all_.told += 1;
    for (const std::string& host : changed.hosts) {
      const std::string node = host.substr(0, host.find('='));
      const bool has = std::ranges::any_of(asked_, [&](const auto& asked) {
        return asked.first.job == changed.attempt.job && asked.second.node == node;
      });
      if (!has) ask_for_part(changed.attempt, command->second.serial, node);
    }
  }
  void forget_killed(Operation& operation) const {
    auto* const report = std::get_if<Report>(&operation);
    if (report == nullptr) return;
    std::erase_if(report->has, [&](const Attempt& attempt) { return killed_.contains(attempt); });
  }
  void act(const JobRunner::Terminate& terminate) {
    const auto found = processes_.find(terminate.attempt);
    if (found == processes_.end()) return;
    if (terminate.at_once) killed_.insert(terminate.attempt);
    if (!terminate.at_once && terminate.attempt.part != 0) all_.parts_asked += 1;
    const auto after = terminate.at_once
                           ? std::optional(scheduler_.between(milliseconds(5), ending_most))
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
    scheduler_.at(
        std::max(process.until, scheduler_.now()), [this, attempt, serial = process.serial] {
          const auto found = processes_.find(attempt);
          if (found == processes_.end() || found->second.serial != serial) return;
          if (scheduler_.now() < found->second.until) return fence(attempt, found->second);
          scheduler_.after(scheduler_.between({}, ending_most),
                           [this, attempt, serial] { end(attempt, serial, End::fenced, 137); });
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
    scheduler_.trace(name_, " ends ", attempt.job, ".", attempt.attempt, ".", attempt.part,
                     " with ", code);
    if (attempt.part == 0) {
      if (how == End::exited && code == 1) all_.ends[attempt.job] += 1;
      if (how == End::exited && code == 0) all_.succeeded.insert(attempt.job);
    }
    vanish(attempt);
    if (frozen_) unheard_.insert(attempt);
    deliver(JobRunner::Over{{attempt, how, code, "ended"}});
  }
  void vanish(Attempt attempt) {
    if (processes_.erase(attempt) != 0) {
      all_.alive[attempt.job].erase({name_, attempt});
    }
  }

  Scheduler& scheduler_;
  Group& group_;
  Register& all_;
  const std::string name_;
  std::unique_ptr<JobRunner> runner_;
  std::uint64_t life_ = 0, turn_ = 0, serial_ = 0;
  bool frozen_ = false;
  JobRunner::LentSeen lent_;
  std::vector<JobRunner::Event> waiting_;
  /// Of what has ended while the machine stood still, which hears of it behind all that came
  /// before.
  std::set<Attempt> unheard_;
  std::map<Attempt, Process> processes_;
  struct Asked {
    /// Of the command.
    std::uint64_t serial = 0;
    std::string node;
  };
  std::map<Attempt, Asked> asked_;
  std::set<Attempt> killed_;
  std::uint32_t parts_ = 0;
  Time until_{};
};

class Run {
 public:
  explicit Run(std::uint64_t seed, Mistake mistake = Mistake::none)
      : scheduler_(seed), group_(scheduler_) {
    all_.mistake = mistake;
    for (const char* name : {"a", "b", "c"}) {
      machines_.push_back(std::make_unique<Machine>(scheduler_, group_, all_, name));
    }
    for (int i = 0; i < 12; ++i) {
      scheduler_.after(scheduler_.between({}, seconds(40)), [this] { submit(); });
    }
    for (int i = 0; i < 25; ++i) {
      scheduler_.after(scheduler_.between(seconds(1), seconds(60)), [this] { fault(); });
    }
    for (int i = 0; i < 20; ++i) {
      scheduler_.after(scheduler_.between(seconds(1), seconds(60)), [this] { ask_beside(); });
    }
    // Clocks of leaders are apart, but there is not one leader after the other.
    for (int i = 0; i < 4; ++i) {
      scheduler_.after(seconds(10 + 15 * i),
                       [this] { group_.jump(scheduler_.between({}, seconds(20)) - seconds(10)); });
    }
  }

  void live() { scheduler_.run_until(Time(seconds(70))); }
  /// How often something was begun while another attempt, or the same, was alive.
  std::uint32_t broken() const { return all_.broken; }
  std::uint32_t parts() const { return all_.parts; }
  std::uint32_t parts_over() const { return all_.parts_over; }
  std::uint32_t told() const { return all_.told; }
  std::uint32_t parts_asked() const { return all_.parts_asked; }
  std::uint32_t forgotten() const { return forgotten_; }
  std::uint32_t resized() const { return resized_; }
  std::uint32_t given_back() const { return all_.given_back; }
  std::uint32_t late() const { return all_.late; }
  std::size_t beside() const { return all_.beside.size(); }
  std::uint32_t beside_told() const { return beside_told_; }

  void check() {
    live();
    for (const auto& machine : machines_) {
      machine->cut = false;
      machine->thaw();
      machine->start();
      group_.execute(Drain{machine->name(), false});
    }
    group_.answers = true;
    // One that was on its way out comes back: a job may want all of them.
    scheduler_.after(seconds(60), [this] {
      for (const auto& machine : machines_) machine->start();
    });
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
      CHECK(job.parts.empty());
      if (job.state == JobState::failed) {
        const bool too_often = job.failures > job.spec.retries;
        CHECK((too_often || job.losses >= JobTable::losses_max));
      }
      if (job.state == JobState::cancelled) CHECK(job.cancelled);
    }
    for (const auto& [name, node] : group_.state().nodes()) CHECK(node.used == 0);
    // What is over has no parts anywhere, a moment later.
    scheduler_.run_until(scheduler_.now() + seconds(5));
    for (const auto& [id, alive] : all_.alive) CHECK(alive.empty());
  }

 private:
  void submit() {
    if (!group_.answers) return scheduler_.after(seconds(1), [this] { submit(); });
    Random& random = scheduler_.random();
    const auto nodes = 1 + static_cast<std::uint32_t>(random.below(3));
    std::vector<std::string> environment;
    if (random.below(2) == 0) environment.emplace_back(follows_nodes_variable);
    const auto answer =
        group_.execute(Submit{{.name = "job",
                               .command = {"x"},
                               .environment = std::move(environment),
                               .nodes = nodes,
                               .slots = 1 + static_cast<std::uint32_t>(random.below(2)),
                               .retries = static_cast<std::uint32_t>(random.below(3))}});
    Fate& fate = all_.fates[answer.job];
    fate.spans = nodes > 1;
    fate.takes = scheduler_.between(milliseconds(100), seconds(8));
    fate.fails = static_cast<std::uint32_t>(random.below(3));
    if (random.below(3) != 0) fate.leaves_after = scheduler_.between({}, seconds(5));
  }

  void ask_beside() {
    if (!group_.answers) return;
    const JobId job = 1 + scheduler_.random().below(12);
    const Answer answer = group_.execute(RunBeside{job, {"ask"}});
    if (answer.verdict != Answer::Verdict::done) return;
    const std::uint32_t part = answer.jobs.at(0).parts.rbegin()->first;
    wait_beside({job, answer.jobs.at(0).attempt, part}, 0);
  }
  // Until it has ended or its attempt has, as a user's command does.
  void wait_beside(const Attempt& asked, std::uint64_t mark) {
    group_.hold(AwaitJob{asked.job, mark, 0}, [this, asked](const Answer& answer) {
      const Job& job = answer.jobs.at(0);
      if (job.attempt != asked.attempt || is_over(job.state)) return;
      const auto part = job.parts.find(asked.part);
      if (part == job.parts.end()) {
        CHECK(job.state == JobState::waiting);
        return;
      }
      if (!part->second.ended) {
        return scheduler_.after(milliseconds(1),
                                [this, asked, seen = answer.mark] { wait_beside(asked, seen); });
      }
      beside_told_ += part->second.ended->why == "ended" ? 1 : 0;
    });
  }

  void fault() {
    Random& random = scheduler_.random();
    Machine& machine = *machines_[random.below(machines_.size())];
    const Time lasts = scheduler_.between(milliseconds(100), seconds(12));
    const auto later = [&](std::function<void()> what) {
      scheduler_.after(lasts, std::move(what));
    };
    switch (random.below(11)) {
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
      case 9:
        // No more than there are machines: in the end each job has to begin.
        if (group_.answers &&
            group_.execute(
                      Resize{1 + random.below(12), 2 + static_cast<std::uint32_t>(random.below(2))})
                    .verdict == Answer::Verdict::done) {
          resized_ += 1;
        }
        return;
      case 6:
        machine.leave();
        return later([&machine] { machine.start(); });
      case 7:
        // It lives, and may come back.
        if (group_.answers &&
            group_.execute(Forget{machine.name()}).verdict == Answer::Verdict::done) {
          forgotten_ += 1;
        }
        return;
      case 8:
        // Later than what was allowed before could go on.
        return machine.lend(scheduler_.now() + scheduler_.between(seconds(4), seconds(15)), lasts);
      default:
        return group_.replace_other();
    }
  }

  Scheduler scheduler_;
  Register all_;
  Group group_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::uint32_t forgotten_ = 0, beside_told_ = 0, resized_ = 0;
};

}  // namespace

TEST_CASE(
    "of a job one attempt is alive at a time, each job is over in the end, and each machine that "
    "is "
    "lent is given back in time") {
  std::uint64_t parts = 0, parts_over = 0, told = 0, parts_asked = 0, forgotten = 0, given_back = 0;
  std::uint64_t beside = 0, beside_told = 0, resized = 0;
  for (const auto seed : seeds(5'000)) {
    Run run(seed);
    run.check();
    parts += run.parts();
    parts_over += run.parts_over();
    told += run.told();
    parts_asked += run.parts_asked();
    forgotten += run.forgotten();
    given_back += run.given_back();
    beside += run.beside();
    beside_told += run.beside_told();
    resized += run.resized();
    CHECK(run.late() == 0);
  }
  // Or else nothing was tried.
  CHECK(parts > 0);
  CHECK(parts_over > 0);
  CHECK(told > 0);
  CHECK(parts_asked > 0);
  CHECK(forgotten > 0);
  CHECK(given_back > 0);
  CHECK(beside > 0);
  CHECK(beside_told > 0);
  CHECK(resized > 0);
}

TEST_CASE("a node that says too early that it has nothing of a part is found") {
  std::uint32_t broken = 0;
  for (const auto seed : seeds(200)) {
    Run run(seed, Mistake::says_too_early);
    run.live();
    broken += run.broken();
  }
  CHECK(broken > 0);
}

}  // namespace piracema::sim
