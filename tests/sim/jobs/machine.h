#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "jobs/local/job_runner.h"
#include "sim/jobs/group.h"
#include "sim/jobs/register.h"
#include "sim/scheduler.h"

namespace piracema::sim {

/// A node of the cluster, with the processes of its jobs and their supervisors.
class Machine {
 public:
  Machine(Scheduler& scheduler, Group& group, Register& all, std::string name, std::string kind);

  void start();
  /// The processes of jobs are ended by their supervisors, a moment later.
  void crash();
  void freeze() { frozen_ = runner_ != nullptr; }
  void thaw();
  void leave();
  /// Its owner wants it back by then, for so long.
  void lend(Time closes, Time away);
  /// Its user comes for so long. Jobs may stand still for a part of the grace. When he has gone it
  /// is idle after a while.
  struct Visit {
    Time lasts{}, suspend{}, grace{}, idle{};
  };
  void visit(const Visit& visit);
  /// Its home has no room for so long.
  void fill(Time lasts);
  bool is_up() const { return runner_ && !frozen_ && !cut; }
  const std::string& name() const { return name_; }

  bool cut = false;

 private:
  struct Process {
    Time until{};
    std::uint64_t serial = 0;
    bool asked = false;
    bool suspended = false;
    /// It would have ended by itself meanwhile.
    bool is_due = false;
  };

  void deliver(const JobRunner::Event& event);
  void see_room();
  std::set<std::pair<Attempt, std::uint64_t>> commands() const;

  void act(const JobRunner::Ask& ask);
  void act(const JobRunner::Await& await);
  void act(const JobRunner::Launch& launch);
  void joins(const Attempt& attempt, std::uint64_t serial);
  void ask_for_part(const Attempt& asker, std::uint64_t serial, const std::string& node);
  void drop_what_it_asked(const Attempt& asker);
  void act(const JobRunner::PartOver& over);
  void act(const JobRunner::HostsChanged& changed);
  void hands_over(const Attempt& attempt, std::uint64_t serial);
  void forget_killed(Operation& operation) const;
  void act(const JobRunner::Leaves&) {}
  void act(const JobRunner::Suspend& suspend);
  void act(const JobRunner::Resume& resume);
  void go_on(const Attempt& attempt, Process& process);
  void check_nothing_stands_still();
  void act(const JobRunner::Terminate& terminate);
  void act(const JobRunner::Extend& extend);
  void act(const JobRunner::Tell& tell) { scheduler_.trace(name_, ": ", tell.text); }
  void act(const JobRunner::Finish&);

  void fence(Attempt attempt, const Process& process);
  void by_itself(Attempt attempt, std::uint64_t serial);
  void end(Attempt attempt, std::uint64_t serial, End how, std::uint32_t code);
  void vanish(Attempt attempt);

  Scheduler& scheduler_;
  Group& group_;
  Register& all_;
  const std::string name_, kind_;
  std::unique_ptr<JobRunner> runner_;
  std::uint64_t life_ = 0, turn_ = 0, serial_ = 0;
  bool frozen_ = false;
  JobRunner::LentSeen lent_;
  /// What is so, and what its node was told.
  bool full_ = false, told_full_ = false;
  std::vector<JobRunner::Event> waiting_;
  /// Of what has ended while the machine stood still, which hears of it behind all that came
  /// before.
  std::set<Attempt> unheard_;
  std::map<Attempt, Process> processes_;
  struct Asked {
    /// The command, or a part.
    Attempt asker;
    std::uint64_t serial = 0;
    std::string node;
  };
  std::map<Attempt, Asked> asked_;
  std::set<Attempt> killed_;
  /// As if drawn: no two machines have the same.
  std::uint32_t parts_;
  Time until_{};
};

}  // namespace piracema::sim
