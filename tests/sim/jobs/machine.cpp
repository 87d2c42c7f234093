#include "sim/jobs/machine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// Longer than any node waits: what is right does not hang on that.
constexpr Time operation_timeout = seconds(4);
// A client that has given up may still be heard.
constexpr Time late_most = seconds(6);
// A busy machine takes so long to end a process that is killed.
constexpr Time ending_most = milliseconds(800);

// A command, as its node had no room any more.
bool is_too_late(const Ended& ended) { return ended.end == End::left && ended.code == 127; }

}  // namespace

Machine::Machine(Scheduler& scheduler, Group& group, Register& all, std::string name,
                 std::string kind)
    : scheduler_(scheduler),
      group_(group),
      all_(all),
      name_(std::move(name)),
      kind_(std::move(kind)),
      parts_(static_cast<std::uint32_t>(name_.front()) << 20) {
  start();
}

void Machine::start() {
  if (runner_) return;
  life_ += 1;
  runner_ = std::make_unique<JobRunner>(
      JobRunner::Settings{name_, scheduler_.random().next() | 1, 2, "/d", "h-" + name_, kind_});
  deliver(JobRunner::LeavingTakes{scheduler_.between(seconds(1), seconds(4)), ending_most});
  deliver(lent_);
  told_full_ = false;
  see_room();
  deliver(JobRunner::Began{});
}

void Machine::crash() {
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

void Machine::thaw() {
  if (!std::exchange(frozen_, false)) return;
  for (const auto& event : std::exchange(waiting_, {})) deliver(event);
  deliver(JobRunner::Woken{});
  if (lent_.is_lent || lent_.keeps) check_nothing_stands_still();
}

void Machine::leave() {
  if (runner_) deliver(JobRunner::LeaveAsked{});
}

void Machine::lend(Time closes, Time away) {
  if (lent_.gone_by || !lent_.is_lent) return;
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

void Machine::visit(const Visit& visit) {
  if (lent_.gone_by || !lent_.is_lent) return;
  const Time came = scheduler_.now();
  const bool has_jobs = !processes_.empty();
  scheduler_.trace(name_, " has its user");
  lent_ = {false, came + visit.grace, "its user is there", came + visit.suspend};
  deliver(lent_);
  scheduler_.at(came + milliseconds(1), [this] {
    if (frozen_ || !runner_) return;
    for (const auto& [attempt, process] : processes_) {
      const bool may_run = attempt.part != 0 || !all_.fates.at(attempt.job).stands;
      all_.beside_user += may_run || process.suspended || process.asked ? 0 : 1;
    }
  });
  // Whoever goes later finds that all has left, or is about to.
  if (visit.lasts >= visit.grace) {
    scheduler_.at(came + visit.grace + milliseconds(21), [this, has_jobs] {
      all_.late += processes_.empty() ? 0 : 1;
      all_.given_back += has_jobs ? 1 : 0;
    });
  }
  scheduler_.at(came + visit.lasts, [this, keeps = visit.lasts < visit.suspend] {
    scheduler_.trace(name_, " has no user");
    lent_ = {false, keeps ? std::nullopt : std::optional(scheduler_.now()), "it is not idle",
             std::nullopt, keeps};
    deliver(lent_);
    if (keeps) check_nothing_stands_still();
  });
  scheduler_.at(came + visit.lasts + visit.idle, [this] {
    lent_ = {};
    deliver(lent_);
    check_nothing_stands_still();
  });
}

void Machine::check_nothing_stands_still() {
  if (frozen_ || !runner_) return;
  for (const auto& [attempt, process] : processes_) {
    all_.forgotten_still += process.suspended ? 1 : 0;
  }
}

void Machine::fill(Time lasts) {
  if (std::exchange(full_, true)) return;
  scheduler_.trace(name_, " is full");
  see_room();
  scheduler_.after(lasts, [this, before = commands()] {
    for (const auto& command : commands()) all_.stayed += before.contains(command) ? 1 : 0;
    scheduler_.trace(name_, " has room");
    full_ = false;
    see_room();
  });
}

void Machine::see_room() {
  if (all_.mistake == Mistake::leaves_when_full) {
    return deliver(JobRunner::LentSeen{!full_, std::nullopt, "its home is full"});
  }
  deliver(JobRunner::RoomSeen{!full_});
}

std::set<std::pair<Attempt, std::uint64_t>> Machine::commands() const {
  std::set<std::pair<Attempt, std::uint64_t>> all;
  for (const auto& [attempt, process] : processes_) {
    if (attempt.part == 0) all.insert({attempt, process.serial});
  }
  return all;
}

void Machine::deliver(const JobRunner::Event& event) {
  if (!runner_) return;
  if (frozen_) {
    waiting_.push_back(event);
    return;
  }
  if (const auto* over = std::get_if<JobRunner::Over>(&event)) {
    unheard_.erase(over->ended.attempt);
  }
  if (const auto* room = std::get_if<JobRunner::RoomSeen>(&event)) told_full_ = !room->has_room;
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
void Machine::act(const JobRunner::Ask& ask) {
  const auto number = ask.question;
  scheduler_.after(operation_timeout, [this, number, life = life_] {
    if (life == life_) deliver(JobRunner::Answered{number, Error{Errc::timeout, "no answer"}});
  });
  if (cut) return;
  const auto way = [this] {
    const bool late = all_.loses_messages && scheduler_.random().below(20) == 0;
    return late ? scheduler_.between(milliseconds(100), late_most)
                : scheduler_.between(milliseconds(1), milliseconds(20));
  };
  Operation asked = ask.operation;
  if (const auto* report = std::get_if<Report>(&asked)) {
    all_.came_too_late += std::ranges::any_of(report->ended, is_too_late) ? 1 : 0;
  }
  if (all_.mistake == Mistake::says_too_early) forget_killed(asked);
  scheduler_.after(way(), [this, number, operation = asked, life = life_, way] {
    if (!group_.answers) return;
    const Answer answer = group_.execute(operation);
    if (cut || (all_.loses_messages && scheduler_.random().below(30) == 0)) return;
    scheduler_.after(way(), [this, number, answer, life] {
      if (life == life_ && !cut) deliver(JobRunner::Answered{number, answer});
    });
  });
}

void Machine::act(const JobRunner::Await& await) {
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

void Machine::act(const JobRunner::Launch& launch) {
  const Attempt attempt = launch.attempt;
  all_.late += lent_.is_lent ? 0 : 1;
  REQUIRE_FALSE((told_full_ && attempt.part == 0));
  scheduler_.trace(name_, " begins ", attempt.job, ".", attempt.attempt, ".", attempt.part);
  all_.begins(name_, attempt);
  if (all_.mistake == Mistake::none) REQUIRE(all_.broken == 0);
  REQUIRE(all_.done_twice == 0);
  Process& process = processes_[attempt];
  process.until = until_;
  process.serial = ++serial_;
  fence(attempt, process);
  const Fate& fate = all_.fates.at(attempt.job);
  if (fate.alike) {
    auto& kinds = all_.kinds[attempt.job];
    kinds.insert(kind_);
    REQUIRE(kinds.size() == 1);
    all_.began_alike += attempt.attempt > 1 ? 1 : 0;
  }
  if (attempt.part != 0) {
    const Attempt command{attempt.job, attempt.attempt};
    REQUIRE((!is_beside(attempt) || processes_.contains(command) || unheard_.contains(command)));
    if (fate.outlives && !launch.hosts.empty() && scheduler_.random().below(2) == 0) {
      const auto& host = launch.hosts[scheduler_.random().below(launch.hosts.size())];
      ask_for_part(attempt, process.serial, host.name);
    }
    // Some end by themselves.
    if (scheduler_.random().below(3) != 0) return;
    scheduler_.after(scheduler_.between({}, seconds(3)), [this, attempt, serial = process.serial] {
      end(attempt, serial, End::exited, 0);
    });
    return;
  }
  if (launch.joins) {
    joins(attempt, process.serial);
  } else if (fate.spans) {
    for (const HostOfOrder& host : launch.hosts) {
      ask_for_part(attempt, process.serial, host.name);
    }
  }
  scheduler_.after(fate.takes,
                   [this, attempt, serial = process.serial] { by_itself(attempt, serial); });
}

// With whatever its first node had asked for. Some find nobody.
void Machine::joins(const Attempt& attempt, std::uint64_t serial) {
  all_.joined += 1;
  for (const auto& [where, other] : all_.alive[attempt.job]) {
    all_.kept += other.attempt == attempt.attempt && other.part != 0 && !is_beside(other) ? 1 : 0;
  }
  if (scheduler_.random().below(5) != 0) return;
  scheduler_.after(scheduler_.between({}, seconds(2)),
                   [this, attempt, serial] { end(attempt, serial, End::exited, 4); });
}

// As a stream calls its hosts: again when one is lost, and not for ever.
void Machine::ask_for_part(const Attempt& asker, std::uint64_t serial, const std::string& node) {
  const auto found = processes_.find(asker);
  if (found == processes_.end() || found->second.serial != serial || frozen_) return;
  const Attempt part{asker.job, asker.attempt, ++parts_};
  asked_[part] = {asker, serial, node};
  deliver(JobRunner::PartAsked{{part, node, {"agent"}, "line"}});
  if (scheduler_.random().below(6) != 0) return;
  scheduler_.after(scheduler_.between({}, seconds(2)), [this, part] {
    if (asked_.erase(part) != 0 && !frozen_) deliver(JobRunner::PartDropped{part});
  });
}

void Machine::act(const JobRunner::PartOver& over) {
  const auto asked = asked_.extract(over.ended.attempt);
  if (asked.empty()) return;
  all_.parts_over += 1;
  const Attempt command = asked.mapped().asker;
  if (command.part != 0) return;
  if (all_.fates.at(command.job).needs_all && over.ended.code == no_way_there) {
    return scheduler_.after(
        scheduler_.between(milliseconds(10), milliseconds(500)),
        [this, command, serial = asked.mapped().serial] { end(command, serial, End::exited, 3); });
  }
  scheduler_.after(
      scheduler_.between(milliseconds(50), seconds(1)),
      [this, command, asked = asked.mapped()] { ask_for_part(command, asked.serial, asked.node); });
}

// It has parts run on those that are new, and goes on asking those that are gone until it is
// refused.
void Machine::act(const JobRunner::HostsChanged& changed) {
  const auto command = processes_.find(changed.attempt);
  if (command == processes_.end()) return;
  all_.told += 1;
  if (changed.attempt.part != 0) return;
  if (std::ranges::none_of(changed.hosts, [&](const auto& host) { return host.name == name_; })) {
    return hands_over(changed.attempt, command->second.serial);
  }
  for (const HostOfOrder& host : changed.hosts) {
    const bool has = std::ranges::any_of(asked_, [&](const auto& asked) {
      return asked.first.job == changed.attempt.job && asked.second.node == host.name;
    });
    if (!has) ask_for_part(changed.attempt, command->second.serial, host.name);
  }
}

// Once nothing of the job is here. Some never come that far.
void Machine::hands_over(const Attempt& attempt, std::uint64_t serial) {
  const auto after = all_.fates.at(attempt.job).leaves_after;
  if (!after) return;
  scheduler_.after(*after, [this, attempt, serial] {
    const auto found = processes_.find(attempt);
    if (found == processes_.end() || found->second.serial != serial) return;
    all_.handed_over += 1;
    end(attempt, serial, End::exited, 75);
  });
}

void Machine::forget_killed(Operation& operation) const {
  auto* const report = std::get_if<Report>(&operation);
  if (report == nullptr) return;
  std::erase_if(report->has, [&](const Attempt& attempt) { return killed_.contains(attempt); });
}

void Machine::act(const JobRunner::Suspend& suspend) {
  const auto found = processes_.find(suspend.attempt);
  if (found == processes_.end()) return;
  CHECK_FALSE(found->second.suspended);
  CHECK(all_.fates.at(suspend.attempt.job).stands);
  scheduler_.trace(name_, " suspends ", suspend.attempt.job);
  found->second.suspended = true;
  all_.suspended += 1;
}

void Machine::act(const JobRunner::Resume& resume) {
  const auto found = processes_.find(resume.attempt);
  if (found == processes_.end() || all_.mistake == Mistake::never_resumes) return;
  all_.resumed += 1;
  go_on(resume.attempt, found->second);
}

void Machine::go_on(const Attempt& attempt, Process& process) {
  process.suspended = false;
  if (!std::exchange(process.is_due, false)) return;
  scheduler_.after(scheduler_.between(milliseconds(1), milliseconds(100)),
                   [this, attempt, serial = process.serial] { by_itself(attempt, serial); });
}

void Machine::act(const JobRunner::Terminate& terminate) {
  const auto found = processes_.find(terminate.attempt);
  if (found == processes_.end()) return;
  found->second.asked = true;
  if (!terminate.at_once) go_on(terminate.attempt, found->second);
  if (terminate.at_once) killed_.insert(terminate.attempt);
  if (!terminate.at_once && terminate.attempt.part != 0) all_.parts_asked += 1;
  all_.asked += terminate.at_once ? 0 : 1;
  const auto after = terminate.at_once
                         ? std::optional(scheduler_.between(milliseconds(5), ending_most))
                         : all_.fates.at(terminate.attempt.job).leaves_after;
  if (!after) return;
  scheduler_.after(*after, [this, attempt = terminate.attempt, serial = found->second.serial,
                            at_once = terminate.at_once] {
    end(attempt, serial, End::exited, at_once ? 137 : 75);
  });
}

void Machine::act(const JobRunner::Extend& extend) {
  until_ = extend.until;
  for (auto& [attempt, process] : processes_) process.until = std::max(process.until, until_);
}

void Machine::act(const JobRunner::Finish&) {
  scheduler_.trace(name_, " has left");
  CHECK(processes_.empty());
  runner_.reset();
  life_ += 1;
}

// The supervisor's clock, whatever the node does.
void Machine::fence(Attempt attempt, const Process& process) {
  scheduler_.at(
      std::max(process.until, scheduler_.now()), [this, attempt, serial = process.serial] {
        const auto found = processes_.find(attempt);
        if (found == processes_.end() || found->second.serial != serial) return;
        if (scheduler_.now() < found->second.until) return fence(attempt, found->second);
        scheduler_.after(scheduler_.between({}, ending_most),
                         [this, attempt, serial] { end(attempt, serial, End::fenced, 137); });
      });
}

void Machine::by_itself(Attempt attempt, std::uint64_t serial) {
  const auto found = processes_.find(attempt);
  if (found != processes_.end() && found->second.serial == serial && found->second.suspended) {
    found->second.is_due = true;
    return;
  }
  const Fate& fate = all_.fates.at(attempt.job);
  const bool fails = all_.ends[attempt.job] < fate.fails;
  end(attempt, serial, End::exited, fails ? 1 : 0);
}

void Machine::end(Attempt attempt, std::uint64_t serial, End how, std::uint32_t code) {
  const auto found = processes_.find(attempt);
  if (found == processes_.end() || found->second.serial != serial) return;
  scheduler_.trace(name_, " ends ", attempt.job, ".", attempt.attempt, ".", attempt.part, " with ",
                   code);
  if (attempt.part == 0) {
    if (how == End::exited && code == 1) all_.ends[attempt.job] += 1;
    if (how == End::exited && code == 3) all_.gave_up[attempt.job] += 1;
    if (how == End::exited && code == 0) all_.succeeded.insert(attempt.job);
  }
  vanish(attempt);
  if (attempt.part != 0) drop_what_it_asked(attempt);
  if (frozen_) unheard_.insert(attempt);
  deliver(JobRunner::Over{{attempt, how, code, "ended"}});
}

// The node's door sees to that, also once the machine goes on.
void Machine::drop_what_it_asked(const Attempt& asker) {
  std::vector<Attempt> dropped;
  std::erase_if(asked_, [&](const auto& asked) {
    const bool goes = asked.second.asker == asker;
    if (goes) dropped.push_back(asked.first);
    return goes;
  });
  for (const Attempt& part : dropped) deliver(JobRunner::PartDropped{part});
}

void Machine::vanish(Attempt attempt) {
  if (processes_.erase(attempt) != 0) {
    all_.alive[attempt.job].erase({name_, attempt});
  }
}

}  // namespace piracema::sim
