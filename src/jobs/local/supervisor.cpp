#include "jobs/local/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "jobs/local/work.h"
#include "os/process.h"
#include "os/process_tree.h"
#include "os/stopped_tree.h"

namespace piracema::jobs {

namespace {

using std::chrono::milliseconds;

// Those that came late are found by looking again; more seldom, where one takes long to stop.
constexpr int look_ms = 10, look_most_ms = 1'000;

/// In a process of its own. All that a job starts, and is not waited for by others, comes to it.
class Supervisor {
 public:
  explicit Supervisor(Work work)
      : work_(std::move(work)), result_(work_.result), input_(work_.input), until_(work_.until) {}

  int run() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // The log is for both.
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    // It ends when the job has, and not before.
    for (const int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) ::signal(number, SIG_IGN);
    ::fcntl(result_, F_SETFD, FD_CLOEXEC);
    if (input_ >= 0) ::fcntl(input_, F_SETFD, FD_CLOEXEC);
    if (now() >= until_) return say_fenced();
    if (auto begun = begin(); !begun) {
      return say("not_started", 127, begun.error().message);
    }
    while (!status_) wait();
    if (!is_over_) end_all();
    if (is_fenced_) return say_fenced();
    const cluster::Exit exit = cluster::describe_exit(*status_);
    return say("exited", static_cast<std::uint32_t>(exit.code), exit.how);
  }

 private:
  Result<Done> go_to_directory() const {
    const cluster::RightsOf rights(work_.account);
    std::error_code failed;
    std::filesystem::create_directories(work_.directory, failed);
    if (!failed && ::chdir(work_.directory.c_str()) != 0) failed = {errno, std::system_category()};
    if (!failed) return Done{};
    const bool is_shut = work_.account && failed == std::errc::permission_denied;
    return Error{Errc::io, concat(work_.directory, ": ", failed.message(),
                                  is_shut ? ", for the account of the job's user: want folders "
                                            "above it that let it through (chmod o+x)"
                                          : "")};
  }

  Result<Done> begin() {
    if (auto there = go_to_directory(); !there) return there;
    const char* path = std::getenv("PATH");
    for (const std::string& variable : work_.environment) {
      if (variable.starts_with("PATH=")) path = variable.c_str() + std::strlen("PATH=");
    }
    auto program = cluster::find_program(work_.command.front(), path);
    if (!program) return program.error();
    work_.command.front() = *std::move(program);
    auto process = cluster::Process::start({.command = std::move(work_.command),
                                            .environment = std::move(work_.environment),
                                            .environment_is_all = work_.account.has_value(),
                                            .input = input_,
                                            .niceness = work_.niceness,
                                            .account = std::move(work_.account)});
    if (!process) return process.error();
    if (input_ >= 0) ::close(input_);
    job_ = process->pid();
    handle_ = Fd(::dup(process->handle()));
    process->let_go();
    return Done{};
  }

  void wait() {
    const auto left = std::chrono::ceil<milliseconds>(until_ - now());
    pollfd watched[] = {{handle_.get(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    const int longest = stopped_ ? look_at_stopped_ms_ : 60'000;
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, longest));
    ::poll(watched, 2, timeout);
    if (watched[1].revents != 0) read_orders();
    if (now() >= until_) fence();
    reap();
    if (stopped_ && !status_) stop_all();
  }

  void read_orders() {
    char bytes[4'096];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    // Nobody is there who would hear of it, either.
    if (count <= 0) return fence();
    orders_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = orders_.find('\n')) != std::string::npos;) {
      const std::string order = orders_.substr(0, end);
      orders_.erase(0, end + 1);
      if (order == "terminate") {
        // First: what goes on then hears of it before anything else.
        ::kill(-job_, SIGTERM);
        resume();
      } else if (order == "suspend") {
        if (!stopped_) stopped_.emplace(::getpid());
        look_at_stopped_ms_ = look_ms;
      } else if (order == "suspend itself") {
        stops_itself_ = true;
        ::kill(job_, SIGTSTP);
      } else if (order == "resume") {
        resume();
      } else if (order == "kill") {
        ::kill(-job_, SIGKILL);
      } else if (const auto until = parse_number<std::int64_t>(order)) {
        until_ = std::max(until_, Time(*until));
      }
    }
  }

  // Also what somebody has let go on meanwhile.
  void stop_all() {
    look_at_stopped_ms_ =
        stopped_->stop() ? look_most_ms : std::min(2 * look_at_stopped_ms_, look_most_ms);
  }

  void resume() {
    if (stopped_) stopped_->go_on();
    stopped_.reset();
    if (std::exchange(stops_itself_, false)) ::kill(job_, SIGCONT);
  }

  void fence() {
    is_fenced_ = true;
    end_all();
  }

  // A job is over when its first process is.
  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) != 0;) {
      if (pid < 0) {
        is_over_ = true;
        if (!status_) status_ = 0;
        return;
      }
      if (pid == job_) status_ = status;
    }
  }

  // A process dies in its own time: one that is nice would wait for that while others are busy, and
  // might be there still when its window has closed. Who may not do this waits.
  void hurry(pid_t pid) const {
    if (work_.niceness != 0) ::setpriority(PRIO_PGRP, static_cast<id_t>(::getpgid(pid)), 0);
  }

  // Whoever starts others meanwhile is ended before those.
  void end_all() {
    while (!is_over_) {
      const pid_t self = ::getpid();
      for (const auto& process : ckpt::tree_of(ckpt::all_processes(), self)) {
        if (process.pid == self) continue;
        hurry(process.pid);
        ::kill(process.pid, SIGKILL);
      }
      ::poll(nullptr, 0, look_ms);
      reap();
    }
  }

  int say_fenced() const { return say("fenced", 137, "the node could not be sure of its lease"); }
  int say(const char* how, std::uint32_t code, const std::string& why) const {
    const std::string line = concat(how, " ", code, " ", why.substr(0, 900), "\n");
    [[maybe_unused]] const ssize_t count = ::write(result_, line.data(), line.size());
    return 0;
  }

  Work work_;
  const int result_, input_;
  Time until_;
  pid_t job_ = 0;
  Fd handle_;
  std::string orders_;
  std::optional<int> status_;
  bool is_fenced_ = false, is_over_ = false;
  /// While all of the job stands still, and when to look at that again.
  std::optional<ckpt::StoppedTree> stopped_;
  int look_at_stopped_ms_ = look_ms;
  /// The job was told to stand still.
  bool stops_itself_ = false;
};

}  // namespace

int run_supervisor(const std::vector<std::string>& words) {
  auto work = work_of(words);
  return work ? Supervisor(*std::move(work)).run() : 2;
}

}  // namespace piracema::jobs
