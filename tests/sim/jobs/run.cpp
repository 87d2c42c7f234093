#include "sim/jobs/run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "jobs/state/job_end.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

Run::Run(std::uint64_t seed, Mistake mistake, Faults faults)
    : scheduler_(seed), group_(scheduler_) {
  all_.mistake = mistake;
  all_.loses_messages = faults == Faults::all;
  // Where there are four a job of three may go from any of them to another one; and in half of
  // those runs one machine is of another kind.
  for (const char name : std::string(seed % 2 == 0 ? "abc" : "abcd")) {
    const std::string kind = name == 'd' && seed % 4 == 1 ? "new" : "old";
    machines_.push_back(
        std::make_unique<Machine>(scheduler_, group_, all_, std::string(1, name), kind));
  }
  for (int i = 0; i < 12; ++i) {
    scheduler_.after(scheduler_.between({}, seconds(40)), [this] { submit(); });
  }
  for (int i = 0; i < 25; ++i) {
    scheduler_.after(scheduler_.between(seconds(1), seconds(60)),
                     [this, faults] { faults == Faults::all ? fault() : fill_home(); });
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

void Run::live() { scheduler_.run_until(Time(seconds(70))); }

void Run::check() {
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
    const std::uint32_t bad_ends = all_.ends[id] + all_.gave_up[id];
    // One that is not wanted any more may end as it likes.
    CHECK((job.cancelled || job.failures <= bad_ends));
    if (all_.gave_up[id] != 0) forgiven_ += bad_ends - job.failures;
    CHECK(job.parts.empty());
    if (job.state == JobState::failed) {
      const bool too_often = job.failures > job.spec.retries;
      CHECK((too_often || job.losses >= losses_max));
    }
    if (job.state == JobState::cancelled) CHECK(job.cancelled);
  }
  for (const auto& [name, node] : group_.state().nodes()) CHECK(node.used == 0);
  // What is over has no parts anywhere, a moment later.
  scheduler_.run_until(scheduler_.now() + seconds(5));
  for (const auto& [id, alive] : all_.alive) CHECK(alive.empty());
}

void Run::submit() {
  if (!group_.answers) return scheduler_.after(seconds(1), [this] { submit(); });
  Random& random = scheduler_.random();
  auto nodes = 1 + static_cast<std::uint32_t>(random.below(3));
  std::vector<std::string> environment;
  const bool follows = random.below(2) == 0;
  if (follows) environment.emplace_back(follows_nodes_variable);
  const bool outlives = follows && random.below(2) == 0;
  if (outlives) {
    environment.emplace_back("PIRACEMA_COORDINATORS=3");
    // On two it is left as a whole when the first one is.
    if (nodes == 1) nodes = 3;
  }
  // Streams on one node, and programs with images there.
  const std::uint64_t how = random.below(3);
  if (nodes == 1 && how == 0) environment.emplace_back(never_suspended_variable);
  if (nodes == 1 && how == 1) environment.emplace_back(suspends_itself_variable);
  // A stream hardly ever wants that: there would be no other machine for it to go to.
  const bool alike = random.below(outlives ? 12 : 3) == 0;
  if (alike) environment.emplace_back(wants_alike_variable);
  const auto answer =
      group_.execute(Submit{{.name = "job",
                             .command = {"x"},
                             .environment = std::move(environment),
                             .nodes = nodes,
                             .slots = 1 + static_cast<std::uint32_t>(random.below(2)),
                             .retries = static_cast<std::uint32_t>(random.below(3))}});
  Fate& fate = all_.fates[answer.job];
  fate.spans = nodes > 1;
  fate.outlives = outlives;
  fate.alike = alike;
  fate.stands = nodes == 1 && how != 0;
  fate.needs_all = random.below(2) == 0 && !follows;
  fate.takes = scheduler_.between(milliseconds(100), seconds(8));
  fate.fails = static_cast<std::uint32_t>(random.below(3));
  if (random.below(3) != 0) fate.leaves_after = scheduler_.between({}, seconds(5));
}

void Run::ask_beside() {
  if (!group_.answers) return;
  const JobId job = 1 + scheduler_.random().below(12);
  const Answer answer = group_.execute(RunBeside{job, {"ask"}});
  if (answer.verdict != Answer::Verdict::done) return;
  const std::uint32_t part = answer.jobs.at(0).parts.rbegin()->first;
  wait_beside({job, answer.jobs.at(0).attempt, part}, 0);
}

// Until it has ended or its attempt has, as a user's command does.
void Run::wait_beside(const Attempt& asked, std::uint64_t mark) {
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

// Of a job that goes on when it is left.
std::optional<std::string> Run::first_of_three() const {
  for (const auto& [id, job] : group_.state().jobs()) {
    if (job.state == JobState::running && outlives_first_node(job.spec) && job.others.size() > 1) {
      return job.node;
    }
  }
  return std::nullopt;
}

void Run::fill_home() {
  Random& random = scheduler_.random();
  machines_[random.below(machines_.size())]->fill(
      scheduler_.between(milliseconds(100), seconds(12)));
}

void Run::fault() {
  Random& random = scheduler_.random();
  Machine& machine = *machines_[random.below(machines_.size())];
  const Time lasts = scheduler_.between(milliseconds(100), seconds(12));
  const auto later = [&](std::function<void()> what) { scheduler_.after(lasts, std::move(what)); };
  switch (random.below(14)) {
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
    case 4: {
      if (!group_.answers) return;
      const std::string node = first_of_three().value_or(machine.name());
      group_.execute(Drain{node, true});
      return later([this, node] {
        if (group_.answers) group_.execute(Drain{node, false});
      });
    }
    case 5:
      if (group_.answers) group_.execute(Cancel{1 + random.below(12)});
      return;
    case 9:
      // No more than there are machines: in the end each job has to begin.
      if (group_.answers && group_.execute(Resize{1 + random.below(12),
                                                  2 + static_cast<std::uint32_t>(random.below(2))})
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
    case 10:
      return machine.fill(lasts);
    case 11:
    case 12: {
      const Time grace = scheduler_.between(seconds(4), seconds(15));
      return machine.visit({.lasts = lasts,
                            .suspend = scheduler_.between(seconds(1), grace),
                            .grace = grace,
                            .idle = scheduler_.between(milliseconds(100), seconds(6))});
    }
    default:
      return group_.replace_other();
  }
}

}  // namespace piracema::sim
