#include "tools/kv/locked_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/text.h"
#include "os/exit_code.h"

namespace piracema::tools {

namespace {

constexpr int no_such_program = 127, cannot_run = 126;

// Between fork and exec, where other threads' locks may be held for ever: nothing but system calls.
// What has become the program writes nothing to `why`: the errno is there where it has not.
[[noreturn]] void become(char* const* words, pid_t parent, const sigset_t& signals, int why) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(cannot_run);
  // All that it starts is ended with it; at a terminal it stays where Ctrl-C reaches it.
  if (::isatty(STDIN_FILENO) == 0) ::setpgid(0, 0);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::execvp(words[0], words);
  const int failed = errno;
  [[maybe_unused]] const ssize_t said = ::write(why, &failed, sizeof failed);
  ::_exit(failed == ENOENT ? no_such_program : cannot_run);
}

// Those of its group, if it has one of its own.
void send(pid_t pid, int signal) {
  if (::kill(-pid, signal) != 0) ::kill(pid, signal);
}

}  // namespace

LockedCommand::LockedCommand() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals_, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  signal_fd_ = Fd(::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
  end_fd_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ENSURE(signal_fd_.get() >= 0 && end_fd_.get() >= 0);  // Nothing else is open yet.
}

int LockedCommand::is_interrupted() const {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigismember(&pending, signal) == 1) return signal;
  }
  return 0;
}

void LockedCommand::end() {
  ended_ = true;
  ::eventfd_write(end_fd_.get(), 1);
}

int LockedCommand::run(const std::vector<std::string>& command, const std::string& name,
                       const std::string& value, std::chrono::milliseconds grace) {
  if (ended_) return cannot_run;
  ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    log(Level::error, with_errno("starting a process"));
    return cannot_run;
  }
  const Fd why(ends[0]);
  Fd says_why(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(words.data(), parent, before_, says_why.get());
  if (pid < 0) {
    log(Level::error, with_errno("starting a process"));
    return cannot_run;
  }
  says_why.close();
  // A program that ends with 127 itself has been run.
  int failed = 0;
  if (::read(why.get(), &failed, sizeof failed) == sizeof failed) {
    errno = failed;
    log(Level::error, with_errno(concat("'", command.front(), "' cannot be run")));
  }
  return wait(pid, grace);
}

int LockedCommand::wait(pid_t pid, std::chrono::milliseconds grace) {
  std::optional<Time> kill_at;
  while (true) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      return exit_code_of_status(status);
    }
    int timeout = -1;
    if (kill_at) {
      const Time left = *kill_at - now();
      if (left <= Time{}) {
        send(pid, SIGKILL);
        kill_at = now() + Time(grace);
        continue;
      }
      timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
    pollfd news[] = {{signal_fd_.get(), POLLIN, 0}, {end_fd_.get(), POLLIN, 0}};
    ::poll(news, 2, timeout);
    signalfd_siginfo one{};
    while (::read(signal_fd_.get(), &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
      if (one.ssi_signo != SIGCHLD) send(pid, static_cast<int>(one.ssi_signo));
    }
    eventfd_t count = 0;
    if (::eventfd_read(end_fd_.get(), &count) == 0 && !kill_at) {
      send(pid, SIGTERM);
      kill_at = now() + Time(grace);
    }
  }
}

}  // namespace piracema::tools
