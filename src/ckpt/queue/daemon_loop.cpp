#include "ckpt/queue/daemon_loop.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/keeper/control.h"
#include "ckpt/queue/queued_program.h"
#include "os/exit_code.h"

namespace piracema::ckpt {

namespace {

constexpr Time look_every = std::chrono::seconds(1);

void kill_children_of(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/task/", pid, "/children"));
  for (pid_t child = 0; file >> child;) ::kill(child, SIGKILL);
}

}  // namespace

DaemonLoop::DaemonLoop(QueueDirectory queue, DaemonRunSettings settings)
    : queue_(std::move(queue)),
      settings_(std::move(settings)),
      daemon_(settings_.daemon),
      history_(settings_.host, queue_.path(), settings_.daemon.slots, now()),
      stream_leaving_(queue_.streams_path(), settings_.risk),
      users_(poller_, settings_.users, [this](bool is_there) {
        if (!is_finishing_) tell(UserSeen{is_there});
      }) {}

Result<Done> DaemonLoop::watch_signals() {
  auto signals = SignalWatch::open(poller_, {SIGINT, SIGTERM, SIGHUP}, [this](int) {
    is_finishing_ = true;
    history_.finishes();
    // Whoever ends the daemon wants his machine.
    tell(UserSeen{true});
  });
  if (!signals) return signals.error();
  signals_ = *std::move(signals);
  return Done{};
}

Result<Done> DaemonLoop::run() {
  auto lock = queue_.lock_for(settings_.host);
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  if (auto watched = watch_signals(); !watched) return watched;
  look();
  while (!is_over()) poller_.run_once(std::chrono::milliseconds(-1));
  return Done{};
}

bool DaemonLoop::is_over() const {
  if (!running_.empty()) return false;
  return is_finishing_ || (settings_.until_empty && has_looked_ && jobs_left_ == 0);
}

void DaemonLoop::tell(const DaemonEvent& event) {
  const Time at = now();
  const auto actions = daemon_.step(at, event);
  history_.heard(at, event, actions);
  for (const DaemonAction& action : actions) {
    std::visit([this](const auto& a) { act(a); }, action);
  }
  set_timer();
  // A look is made of several events.
  if (!actions.empty() || std::holds_alternative<JobLeft>(event)) show();
}

void DaemonLoop::show() const {
  if (settings_.figures) settings_.figures(history_.figures(now(), daemon_));
}

void DaemonLoop::set_timer() {
  if (timer_) poller_.cancel(*timer_);
  timer_.reset();
  const auto due = daemon_.wake();
  if (!due) return;
  timer_ = poller_.at(*due, [this] {
    timer_.reset();
    tell(DaemonTick{});
  });
}

void DaemonLoop::look() {
  poller_.at(now() + look_every, [this] { look(); });
  if (is_finishing_) return show();
  std::vector<pid_t> ours;
  for (const auto& [name, one] : running_) ours.push_back(one.process.pid);
  users_.look(ours);
  if (settings_.closes) tell(LentUntil{settings_.closes()});
  look_at_queue();
  look_at_streams();
  show();
}

void DaemonLoop::look_at_streams() {
  std::vector<LeavingTakes> all;
  for (const auto& [name, one] : running_) {
    if (!one.job.stream || !one.length) continue;
    const auto takes = stream_leaving_.takes(one.process.pid, *one.length);
    all.push_back({name, takes.leaving, takes.ending});
  }
  for (const LeavingTakes& one : all) tell(one);
}

void DaemonLoop::look_at_queue() {
  const auto names = queue_.names();
  if (!names) return log(Level::warning, names.error().message);
  QueueSeen seen;
  std::vector<std::pair<std::string, QueuedJob>> jobs;
  for (const std::string& name : *names) {
    const auto job = queue_.read(name);
    if (job && !job->ended) {
      seen.jobs.push_back(name);
      if (settings_.figures) jobs.emplace_back(name, *job);
    }
    if (!job && !has_looked_) log(Level::warning, job.error().message);
  }
  jobs_left_ = seen.jobs.size();
  has_looked_ = true;
  history_.looked(jobs);
  tell(seen);
}

Result<DaemonLoop::Running> DaemonLoop::start(const std::string& name, const StartJob& start) {
  auto job = queue_.read(name);
  if (!job) return job.error();
  std::optional<Time> left;
  if (start.closes) left = *start.closes - now();
  const std::string log = queue_.log_path(name);
  auto process =
      start_own_process(job->stream ? stream_program(*job, log)
                                    : keeper_program(*job, settings_.program, left, settings_.risk,
                                                     job->compress && settings_.can_compress, log));
  if (!process) return process.error();
  return Running{*std::move(process), *std::move(job), left};
}

void DaemonLoop::act(const StartJob& one) {
  auto started = start(one.job, one);
  if (!started) {
    log(Level::warning, concat("job ", one.job, ": ", started.error().message));
    return poller_.post([this, name = one.job] { tell(JobLeft{name, Outcome::failed}); });
  }
  log(Level::info, concat("job ", one.job, " runs"));
  const int handle = started->process.handle.get();
  running_.emplace(one.job, *std::move(started));
  poller_.watch(handle, EPOLLIN, [this, name = one.job](std::uint32_t) { left(name); });
}

void DaemonLoop::act(const LeaveJob& leave) {
  const auto found = running_.find(leave.job);
  if (found == running_.end()) return;
  log(Level::info, concat("job ", leave.job, " has to leave"));
  if (found->second.job.stream) {
    stream_leaving_.asked(leave.job, found->second.process.pid);
    ::kill(found->second.process.pid, SIGTERM);
  } else {
    const auto within = (leave.by - now()) / std::chrono::milliseconds(1);
    tell_keeper(found->second.job.directory + "/control",
                concat("leave ", std::max<std::int64_t>(0, within)));
  }
}

// A keeper that hangs on its store dies when the store lets it; its job dies at once.
void DaemonLoop::act(const KillJob& kill) {
  const auto found = running_.find(kill.job);
  if (found == running_.end()) return;
  log(Level::warning, concat("job ", kill.job, " is killed: it has not left in time"));
  kill_children_of(found->second.process.pid);
  ::kill(found->second.process.pid, SIGKILL);
}

void DaemonLoop::left(const std::string& name) {
  const auto found = running_.find(name);
  if (found == running_.end()) return;
  int status = 0;
  if (::waitpid(found->second.process.pid, &status, WNOHANG) != found->second.process.pid) return;
  const Running gone = std::move(found->second);
  poller_.forget(gone.process.handle.get());
  running_.erase(found);

  const int code = exit_code_of_status(status);
  std::optional<int> ended;
  if (gone.job.stream) {
    if (WIFEXITED(status) && code != saved_code) ended = code;
  } else if (const auto directory = JobDirectory::look(gone.job.directory)) {
    if (const auto file = (*directory)->read()) ended = file->ended;
  }
  if (gone.job.stream) stream_leaving_.left(name, WIFEXITED(status) && code == saved_code);
  Outcome outcome = !WIFEXITED(status)   ? Outcome::died
                    : code == saved_code ? Outcome::stopped
                                         : Outcome::failed;
  if (ended) {
    QueuedJob job = gone.job;
    job.ended = *ended;
    // If this fails the next try finds that it has ended.
    if (auto written = queue_.write(name, job); !written)
      log(Level::warning, written.error().message);
    outcome = Outcome::ended;
    jobs_left_ -= jobs_left_ > 0 ? 1 : 0;
    log(Level::info, concat("job ", name, " has ended with status ", *ended));
  } else {
    log(Level::info,
        concat("job ", name,
               outcome == Outcome::stopped ? " waits for the next window"
               : outcome == Outcome::died  ? " was killed; it goes on from what it has saved"
                                           : " could not be run here now; see its log"));
  }
  tell(JobLeft{name, outcome});
}

}  // namespace piracema::ckpt
