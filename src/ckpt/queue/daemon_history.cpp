#include "ckpt/queue/daemon_history.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace piracema::ckpt {

namespace {

// Whoever shows them has a bound for what it is sent.
constexpr std::size_t job_words_max = 16, job_text_max = 100;

DaemonFigures::Job shown(const std::string& name, const QueuedJob& job) {
  DaemonFigures::Job one{.name = name.substr(0, job_text_max),
                         .directory = job.directory.substr(0, 2 * job_text_max),
                         .stream = job.stream};
  for (std::size_t i = 0; i < std::min(job.command.size(), job_words_max); ++i) {
    one.command.push_back(job.command[i].substr(0, job_text_max));
  }
  return one;
}

}  // namespace

DaemonHistory::DaemonHistory(std::string host, std::string queue, std::size_t slots, Time now) {
  figures_.host = std::move(host);
  figures_.queue = std::move(queue);
  figures_.slots = slots;
  figures_.process = static_cast<std::uint32_t>(::getpid());
  figures_.began = now;
}

void DaemonHistory::looked(const std::vector<std::pair<std::string, QueuedJob>>& jobs) {
  figures_.jobs.clear();
  for (const auto& [name, job] : jobs) {
    if (figures_.jobs.size() < jobs_shown) figures_.jobs.push_back(shown(name, job));
  }
  figures_.waiting = jobs.size();
}

void DaemonHistory::heard(Time now, const DaemonEvent& event,
                          const std::vector<DaemonAction>& actions) {
  if (const auto* const gone = std::get_if<JobLeft>(&event)) {
    if (const auto found = here_.find(gone->job); found != here_.end()) {
      const Here& one = found->second;
      DaemonFigures::Left left{
          .at = now, .job = gone->job, .outcome = gone->outcome, .ran = now - one.since};
      if (one.asked) {
        left.took = now - *one.asked;
        left.given = *one.by - *one.asked;
      }
      figures_.left.push_back(std::move(left));
      if (figures_.left.size() > left_kept) figures_.left.erase(figures_.left.begin());
      figures_.outcomes[static_cast<std::size_t>(gone->outcome)] += 1;
      here_.erase(found);
    }
  }
  for (const DaemonAction& action : actions) {
    if (const auto* const start = std::get_if<StartJob>(&action)) {
      here_[start->job] = {.since = now};
      figures_.started += 1;
    } else if (const auto* const leave = std::get_if<LeaveJob>(&action)) {
      here_[leave->job].asked = now;
      here_[leave->job].by = leave->by;
    } else {
      figures_.killed += 1;
    }
  }
}

DaemonFigures DaemonHistory::figures(Time now, const Daemon& daemon) const {
  DaemonFigures all = figures_;
  const Lending& lending = daemon.lending();
  all.at = now;
  all.lent = daemon.is_lent();
  all.user_is_there = lending.user_is_there();
  all.closes = lending.closes(now);
  if (!all.lent) all.idle_at = lending.idle_at();
  all.running = daemon.running();
  all.waiting -= std::min(all.waiting, all.running);
  for (DaemonFigures::Job& job : all.jobs) {
    const auto seen = daemon.job(job.name);
    job.runs = seen.runs;
    job.leaves = seen.leaves;
    job.killed = seen.killed;
    job.gone_by = seen.gone_by;
    job.not_before = seen.not_before;
    job.failures = static_cast<std::uint32_t>(seen.failures);
    if (const auto found = here_.find(job.name); found != here_.end()) {
      job.since = found->second.since;
    }
  }
  return all;
}

}  // namespace piracema::ckpt
