#include "ckpt/daemon_loop.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/control.h"
#include "ckpt/job_directory.h"

namespace piracema::ckpt {

namespace {

constexpr Time look_every = std::chrono::seconds(1);
/// A site's command that takes longer says that somebody is there: the careful answer.
constexpr Time presence_limit = std::chrono::seconds(10);
/// Of a window without an end.
constexpr const char* no_close = "720h";
constexpr int saved_code = 75;

Fd handle_of(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// In the child: as if started by hand by whoever submitted it, but ended with this daemon.
[[noreturn]] void become(const std::vector<std::string>& words, const QueuedJob& job,
                         const std::string& output, const std::string& log_path, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(saved_code);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int err = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::syscall(SYS_close_range, 3u, ~0u, 0);
  const auto words_of = pointers(words), environment = pointers(job.environment);
  if (::chdir(job.working_directory.c_str()) == 0) {
    ::execvpe(words_of[0], words_of.data(), environment.data());
  }
  dprintf(STDERR_FILENO, "%s\n", with_errno(concat("'", words[0], "' cannot be run")).c_str());
  ::_exit(127);
}

// Whether the directory after `--snapshots` has a complete one (docs/formats/snapshot.md).
bool has_snapshot(const QueuedJob& job) {
  const auto option = std::find(job.command.begin(), job.command.end(), "--snapshots");
  if (option == job.command.end() || option + 1 == job.command.end()) return false;
  std::error_code ignored;
  const auto path = std::filesystem::path(job.working_directory) / *(option + 1);
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    if (std::filesystem::exists(entry.path() / "manifest.json", ignored)) return true;
  }
  return false;
}

// `piracema run APP` becomes `piracema run --resume APP` once there is something to go on from.
std::vector<std::string> stream_words(const QueuedJob& job) {
  std::vector<std::string> words = job.command;
  if (words.size() >= 2 && has_snapshot(job)) words.insert(words.begin() + 2, "--resume");
  return words;
}

void kill_children_of(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/task/", pid, "/children"));
  for (pid_t child = 0; file >> child;) ::kill(child, SIGKILL);
}

}  // namespace

DaemonLoop::DaemonLoop(QueueDirectory queue, DaemonRunSettings settings)
    : queue_(std::move(queue)),
      settings_(std::move(settings)),
      daemon_(settings_.daemon),
      presence_(settings_.presence) {}

Result<Done> DaemonLoop::watch_signals() {
  auto signals = SignalWatch::open(poller_, {SIGINT, SIGTERM, SIGHUP}, [this](int) {
    is_finishing_ = true;
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
  for (const DaemonAction& action : daemon_.step(now(), event)) {
    std::visit([this](const auto& a) { act(a); }, action);
  }
  set_timer();
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
  if (is_finishing_) return;
  look_at_user();
  if (settings_.closes) tell(LentUntil{settings_.closes()});
  look_at_queue();
}

void DaemonLoop::look_at_queue() {
  const auto names = queue_.names();
  if (!names) return log(Level::warning, names.error().message);
  QueueSeen seen;
  for (const std::string& name : *names) {
    const auto job = queue_.read(name);
    if (job && !job->ended) seen.jobs.push_back(name);
    if (!job && !has_looked_) log(Level::warning, job.error().message);
  }
  jobs_left_ = seen.jobs.size();
  has_looked_ = true;
  tell(seen);
}

void DaemonLoop::look_at_user() {
  if (!settings_.presence_command.empty()) {
    if (presence_pid_ != 0) {
      if (now() - presence_since_ > presence_limit) tell(UserSeen{true});
      return;
    }
    presence_since_ = now();
    presence_pid_ = ::fork();
    if (presence_pid_ == 0) {
      const QueuedJob plain{.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"},
                            .working_directory = "/"};
      become({"/bin/sh", "-c", settings_.presence_command}, plain, "/dev/null", "/dev/null",
             ::getppid());
    }
    presence_handle_ = handle_of(presence_pid_);
    poller_.watch(presence_handle_.get(), EPOLLIN, [this](std::uint32_t) { hear_presence(); });
    return;
  }
  if (!settings_.watch_user) return;
  std::vector<pid_t> ours;
  for (const auto& [name, one] : running_) ours.push_back(one.pid);
  tell(UserSeen{presence_.step(now(), look_at_machine(ours))});
}

void DaemonLoop::hear_presence() {
  int status = 0;
  if (::waitpid(presence_pid_, &status, WNOHANG) != presence_pid_) return;
  poller_.forget(presence_handle_.get());
  presence_handle_.close();
  presence_pid_ = 0;
  if (!is_finishing_) tell(UserSeen{WIFEXITED(status) && WEXITSTATUS(status) == 0});
}

Result<DaemonLoop::Running> DaemonLoop::start(const std::string& name, const StartJob& start) {
  auto job = queue_.read(name);
  if (!job) return job.error();
  std::vector<std::string> words;
  std::string output = "/dev/null";
  if (job->stream) {
    words = stream_words(*job);
    output = queue_.log_path(name);
  } else {
    const auto left =
        start.closes ? (*start.closes - now()) / std::chrono::milliseconds(1) : std::int64_t{0};
    words = {settings_.program,
             "ckpt",
             "window",
             "--quiet",
             "--dir",
             job->directory,
             "--for",
             start.closes ? concat(std::max<std::int64_t>(left, 1), "ms") : std::string(no_close)};
    if (job->compress && settings_.can_compress) words.emplace_back("--compress");
    words.emplace_back("--");
    words.insert(words.end(), job->command.begin(), job->command.end());
  }
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) return Error{Errc::io, with_errno("a new process")};
  if (pid == 0) become(words, *job, output, queue_.log_path(name), parent);
  return Running{pid, handle_of(pid), *std::move(job)};
}

void DaemonLoop::act(const StartJob& one) {
  auto started = start(one.job, one);
  if (!started) {
    log(Level::warning, concat("job ", one.job, ": ", started.error().message));
    return poller_.post([this, name = one.job] { tell(JobLeft{name, Outcome::failed}); });
  }
  log(Level::info, concat("job ", one.job, " runs"));
  const int handle = started->handle.get();
  running_.emplace(one.job, *std::move(started));
  poller_.watch(handle, EPOLLIN, [this, name = one.job](std::uint32_t) { left(name); });
}

void DaemonLoop::act(const LeaveJob& leave) {
  const auto found = running_.find(leave.job);
  if (found == running_.end()) return;
  log(Level::info, concat("job ", leave.job, " has to leave"));
  if (found->second.job.stream) {
    ::kill(found->second.pid, SIGTERM);
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
  kill_children_of(found->second.pid);
  ::kill(found->second.pid, SIGKILL);
}

void DaemonLoop::left(const std::string& name) {
  const auto found = running_.find(name);
  if (found == running_.end()) return;
  int status = 0;
  if (::waitpid(found->second.pid, &status, WNOHANG) != found->second.pid) return;
  const Running gone = std::move(found->second);
  poller_.forget(gone.handle.get());
  running_.erase(found);

  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::optional<int> ended;
  if (gone.job.stream) {
    if (WIFEXITED(status) && code != saved_code) ended = code;
  } else if (const auto directory = JobDirectory::look(gone.job.directory)) {
    if (const auto file = (*directory)->read()) ended = file->ended;
  }
  Outcome outcome = code == saved_code || !WIFEXITED(status) ? Outcome::stopped : Outcome::failed;
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
                                           : " could not be run here now; see its log"));
  }
  tell(JobLeft{name, outcome});
}

}  // namespace piracema::ckpt
