#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "ckpt/capsule.h"
#include "ckpt/capsule_setup.h"
#include "ckpt/criu_run.h"
#include "ckpt/image_store.h"
#include "ckpt/open_file_record.h"
#include "ckpt/process_tree.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

constexpr int socket_number = 3;

/// The first process of a capsule: starts the job, runs criu beside it, waits for all.
class Init {
 public:
  Init(Fd socket, const CapsuleSettings& settings)
      : socket_(std::move(socket)), settings_(settings) {}

  [[noreturn]] void run();

 private:
  void report(Report report);
  void handle(const Order& order);
  void start(const Order& order);
  void restore(const Order& order);
  void dump(const Order& order);
  void reap();
  void job_ended(int status);
  void helper_ended(bool ok);
  void restored(bool ok);
  void dumped(bool ok);
  bool is_stopped_all_the_same() const;
  Result<Done> check_before_dump() const;

  Fd socket_;
  const CapsuleSettings& settings_;
  Fd signals_;
  pid_t job_ = 0;
  /// criu, or the hook that makes the image complete when criu is done.
  pid_t helper_ = 0;
  enum class Step { criu, commit } step_ = Step::criu;
  /// The one that the helper works on.
  Order order_;
  Time began_{};
  /// The job's end; noticed while criu runs, it may be criu's doing.
  std::optional<int> ended_;
};

void Init::report(Report report) {
  const Buffer bytes = wire::encode(std::move(report));
  // A keeper that has gone takes us with it.
  (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void Init::start(const Order& order) {
  if (auto set = set_last_pid(pid_least); !set) {
    return report({.kind = ReportKind::started, .message = set.error().message});
  }
  auto pid = start_job(order);
  if (!pid) return report({.kind = ReportKind::started, .message = pid.error().message});
  job_ = *pid;
  report({.kind = ReportKind::started, .ok = true});
}

void Init::restore(const Order& order) {
  order_ = order;
  step_ = Step::criu;
  if (auto put = put_shared_memory_back(order.parts); !put) {
    return report({.kind = ReportKind::started, .message = put.error().message});
  }
  auto pid = start_beside(restore_command(settings_, order), order, 0);
  if (!pid) return report({.kind = ReportKind::started, .message = pid.error().message});
  helper_ = *pid;
}

Result<Done> Init::check_before_dump() const {
  if (job_ == 0 || ended_) return Error{Errc::failed, "the job has ended"};
  if (helper_ != 0) return Error{Errc::failed, "an image is being made already"};
  const auto found = obstacles(job_, {1});
  if (!found.empty()) return Error{Errc::failed, concat("cannot be saved: ", found.front())};
  return Done{};
}

void Init::dump(const Order& order) {
  if (auto right = check_before_dump(); !right) {
    return report({.kind = ReportKind::dumped, .message = right.error().message});
  }
  order_ = order;
  step_ = Step::criu;
  began_ = now();
  auto pid = start_beside(dump_command(settings_, order, job_), order, job_);
  if (!pid) return report({.kind = ReportKind::dumped, .message = pid.error().message});
  helper_ = *pid;
}

void Init::job_ended(int status) {
  ended_ = status;
  if (helper_ != 0 && step_ == Step::criu) return;
  report({.kind = ReportKind::ended, .status = static_cast<std::uint32_t>(status)});
}

void Init::helper_ended(bool ok) {
  helper_ = 0;
  if (order_.kind == OrderKind::restore) return restored(ok);
  if (ok && !order_.stop && step_ == Step::criu && !ended_) {
    // The job goes on already while its image is made safe.
    step_ = Step::commit;
    if (auto pid = start_beside(commit_command(settings_), order_, job_)) {
      helper_ = *pid;
      return;
    }
    ok = false;
  }
  dumped(ok);
}

void Init::restored(bool ok) {
  if (ok) job_ = static_cast<pid_t>(order_.root);
  report({.kind = ReportKind::started, .ok = ok, .message = ok ? "" : why_failed(order_.log)});
  if (ok && ended_) job_ended(*ended_);
}

// criu kills what it has saved, and then may take it for a failure that somebody is dead. By then
// the hook has made the image complete: the job was stopped, or is by the end of the capsule.
bool Init::is_stopped_all_the_same() const {
  const bool ended_itself = ended_ && !(WIFSIGNALED(*ended_) && WTERMSIG(*ended_) == SIGKILL);
  const std::string manifest =
      concat(order_.directory, "/images/", ImageStore::manifest_name(order_.image));
  return order_.stop && !ended_itself && ::access(manifest.c_str(), F_OK) == 0;
}

void Init::dumped(bool ok) {
  ok = ok || is_stopped_all_the_same();
  const auto took = static_cast<std::uint64_t>((now() - began_) / std::chrono::microseconds(1));
  report({.kind = ReportKind::dumped,
          .ok = ok,
          .message = ok ? "" : why_failed(order_.log),
          .frozen_us = frozen_time(order_.log),
          .dump_us = took});
  if (ok && order_.stop) {
    // What criu has killed after it was saved has not ended.
    job_ = 0;
    ended_.reset();
  } else if (ended_ && step_ == Step::criu) {
    job_ended(*ended_);
  }
}

void Init::reap() {
  signalfd_siginfo ignored;
  while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {
  }
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    const bool restoring = helper_ != 0 && order_.kind == OrderKind::restore;
    if (pid == helper_) {
      // The job's end may be there to be noticed as well, and was before.
      int job_status = 0;
      if (job_ != 0 && ::waitpid(job_, &job_status, WNOHANG) == job_) job_ended(job_status);
      helper_ended(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    } else if (pid == job_ || (restoring && pid == static_cast<pid_t>(order_.root))) {
      job_ended(status);
    }
  }
}

void Init::handle(const Order& order) {
  switch (order.kind) {
    case OrderKind::start:
      return start(order);
    case OrderKind::restore:
      return restore(order);
    case OrderKind::dump:
      return dump(order);
  }
}

void Init::run() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  signals_ = Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  char go = 0;
  if (!signals_ || ::recv(socket_.get(), &go, 1, 0) != 1) ::_exit(1);
  const auto made = set_up_capsule(settings_);
  report({.kind = ReportKind::ready, .ok = made.ok(), .message = made ? "" : made.error().message});
  if (!made) ::_exit(1);
  Buffer room;
  room.resize(message_bytes_max);
  for (;;) {
    std::array<pollfd, 2> wait = {{{socket_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) ::_exit(1);
    if (wait[1].revents != 0) reap();
    if (wait[0].revents == 0) continue;
    const ssize_t bytes = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (bytes <= 0) ::_exit(0);
    const auto order = wire::decode<Order>(Bytes(room).first(static_cast<std::size_t>(bytes)));
    if (!order) ::_exit(1);
    handle(*order);
  }
}

}  // namespace

void capsule_main(Fd socket, const CapsuleSettings& settings) {
  // Dies with the keeper; one that is dead already is noticed by its end of the socket.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  // Ctrl-C, SIGTERM and the like are the keeper's.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    ::signal(number, SIG_IGN);
  }
  // Files of other mount namespaces have no name here; criu would refuse them.
  Fd own(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 100));
  socket.close();
  ::dup3(own.get(), socket_number, O_CLOEXEC);
  own.release();
  ::syscall(SYS_close_range, static_cast<unsigned>(socket_number) + 1, ~0u, 0);
  Init(Fd(socket_number), settings).run();
}

}  // namespace piracema::ckpt
