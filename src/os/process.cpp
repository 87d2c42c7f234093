#include "os/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "os/exit_code.h"

namespace piracema::cluster {

namespace {

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

std::string_view name_of_variable(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

std::vector<char*> environment_of(const Launch& launch) {
  const std::vector<std::string>& changes = launch.environment;
  std::vector<char*> all = pointers(changes);
  if (launch.environment_is_all) return all;
  all.pop_back();
  for (char** old = environ; *old != nullptr; ++old) {
    bool replaced = false;
    for (const std::string& change : changes) {
      replaced = replaced || name_of_variable(*old) == name_of_variable(change);
    }
    if (!replaced) all.push_back(*old);
  }
  all.push_back(nullptr);
  return all;
}

/// What the child needs before it becomes the program, made beforehand: it has our memory until
/// then, so it allocates nothing, and writes nothing that we read.
struct Prepared {
  const char* file;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const std::vector<int>& inherited;
  bool output_to_error;
  int output;
  pid_t parent;
  int input;
  int failure;
  bool outlives_us;
  int niceness;
  /// Null: it stays who it is.
  const Account* account;
};

[[noreturn]] void give_up(const Prepared& prepared) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(prepared.failure, &reason, sizeof reason);
  ::_exit(127);
}

// No handler of ours runs in the child, where it would change our memory.
void restore_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction current {};
    if (::sigaction(number, nullptr, &current) != 0) continue;
    if (current.sa_handler != SIG_IGN && current.sa_handler != SIG_DFL) {
      ::sigaction(number, &standard, nullptr);
    }
  }
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGCHLD, SIGHUP, SIGQUIT}) {
    ::sigaction(number, &standard, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Not by the C library, which has all threads of a process become somebody else: with vfork these
// are our own.
bool take_account(const Account& account) {
  return ::syscall(SYS_setgroups, account.groups.size(), account.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, account.gid, account.gid, account.gid) == 0 &&
         ::syscall(SYS_setresuid, account.uid, account.uid, account.uid) == 0;
}

[[noreturn]] void become(const Prepared& prepared) {
  // First: the kernel forgets with it that this process dies with its parent.
  if (prepared.account != nullptr && !take_account(*prepared.account)) give_up(prepared);
  if (prepared.outlives_us) {
    ::setsid();
  } else {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(prepared);
    // A parent that died before that call sends no signal any more.
    if (::getppid() != prepared.parent) ::_exit(127);
    ::setpgid(0, 0);
  }
  // It goes on without, if that cannot be.
  if (prepared.niceness != 0) [[maybe_unused]]
    const int now = ::nice(prepared.niceness);
  restore_signals();
  ::dup2(prepared.input, STDIN_FILENO);
  if (prepared.output >= 0) ::dup2(prepared.output, STDOUT_FILENO);
  if (prepared.output_to_error) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  for (const int fd : prepared.inherited) ::fcntl(fd, F_SETFD, 0);
  ::execve(prepared.file, prepared.arguments.data(), prepared.environment.data());
  give_up(prepared);
}

// This thread waits until the child has become the program. To copy our page tables instead, as
// fork does, would take longer than all else that a start does. -1 with errno.
pid_t start_child(const Prepared& prepared) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t pid = ::vfork();
  if (pid == 0) become(prepared);
  const int reason = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = reason;
  return pid;
}

bool comes_from_outside(int signal) {
  switch (signal) {
    case SIGKILL:
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
    case SIGQUIT:
      return true;
    default:
      return false;
  }
}

// Whoever started us may have left SIGCHLD ignored, and then the kernel throws statuses away.
void keep_exit_statuses() {
  struct sigaction current {};
  ::sigaction(SIGCHLD, nullptr, &current);
  if (current.sa_handler == SIG_IGN) ::signal(SIGCHLD, SIG_DFL);
}

Error not_runnable(const std::string& name, std::string_view why) {
  return {Errc::config, concat("'", name, "' cannot be run: ", why)};
}

// Empty if it is a program.
std::string why_not(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  if (::access(path.c_str(), X_OK) != 0) return std::strerror(errno);
  return {};
}

}  // namespace

void set_variable(std::vector<std::string>& environment, const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  std::erase_if(environment, [&](const std::string& one) { return one.starts_with(name); });
  environment.push_back(variable);
}

Result<Process> Process::start(const Launch& launch) {
  ENSURE(!launch.command.empty());
  keep_exit_statuses();
  const std::string& name = launch.command.front();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe to a new process")};
  Fd failure_in(ends[0]), failure_out(ends[1]);
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return Error{Errc::io, with_errno("/dev/null")};

  const Prepared prepared{.file = name.c_str(),
                          .arguments = pointers(launch.command),
                          .environment = environment_of(launch),
                          .inherited = launch.inherited,
                          .output_to_error = launch.output_to_error,
                          .output = launch.output,
                          .parent = ::getpid(),
                          .input = launch.input >= 0 ? launch.input : nothing.get(),
                          .failure = failure_out.get(),
                          .outlives_us = launch.outlives_us,
                          .niceness = launch.niceness,
                          .account = launch.account ? &*launch.account : nullptr};
  const pid_t pid = start_child(prepared);
  if (pid < 0) return Error{Errc::io, with_errno("a new process")};

  // The pipe closes by itself when the program has been started.
  failure_out.close();
  Process process(pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  int reason = 0;
  ssize_t count = 0;
  do {
    count = ::read(failure_in.get(), &reason, sizeof reason);
  } while (count < 0 && errno == EINTR);
  if (count > 0) return not_runnable(name, std::strerror(reason));
  return process;
}

Process::~Process() {
  if (pid_ == 0) return;
  signal(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Process::signal(int number) const {
  // The number cannot belong to another process yet: only `reap` gives it back.
  if (pid_ != 0) ::kill(-pid_, number);
}

std::optional<Exit> Process::reap() {
  siginfo_t ended{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      ended.si_pid == 0) {
    return std::nullopt;
  }
  // A wrapper (a shell, a profiler) may have left the program itself behind.
  signal(SIGKILL);
  int status = 0;
  struct rusage usage {};
  const pid_t reaped = ::wait4(pid_, &status, 0, &usage);
  ENSURE(reaped == pid_);  // Nobody else waits for our children, and it has ended.
  pid_ = 0;
  Exit exit = describe_exit(status);
  const auto time = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  exit.cpu = time(usage.ru_utime) + time(usage.ru_stime);
  exit.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1'024;
  return exit;
}

Result<std::string> find_program(const std::string& name) {
  return find_program(name, std::getenv("PATH"));
}

Result<std::string> find_program(const std::string& name, const char* path) {
  if (name.empty()) return Error{Errc::config, "the program's name is empty"};
  if (name.find('/') != std::string::npos) {
    if (auto why = why_not(name); !why.empty()) return not_runnable(name, why);
    return name;
  }
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string file = concat(folder.empty() ? "." : folder, "/", name);
    if (why_not(file).empty()) return file;
  }
  std::string hint;
  if (why_not("./" + name).empty()) hint = concat("; did you mean ./", name, "?");
  return not_runnable(name, concat("it is not in the PATH", hint));
}

Exit describe_exit(int wait_status) {
  Exit exit;
  if (WIFEXITED(wait_status)) {
    exit.status = WEXITSTATUS(wait_status);
    exit.clean = *exit.status == 0;
    exit.code = *exit.status;
    exit.how = concat("ended with status ", *exit.status);
    return exit;
  }
  const int signal = WTERMSIG(wait_status);
  exit.by_signal = true;
  exit.code = exit_code_of_signal(signal);
  exit.from_outside = comes_from_outside(signal);
  exit.how = concat("killed by signal ", signal);
  if (const char* name = ::sigabbrev_np(signal)) exit.how += concat(" (SIG", name, ")");
  return exit;
}

}  // namespace piracema::cluster
