#include "os/own_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "os/helper.h"

namespace piracema::ckpt {

namespace {

int open_to_add(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
}

// In the child.
[[noreturn]] void become(const OwnProgram& program, pid_t parent) {
  // First of all: a lock of the parent's would outlive it while a disk is waited for here.
  ::syscall(SYS_close_range, 3u, ~0u, 0);
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(saved_code);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = open_to_add(program.output), err = open_to_add(program.errors);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::syscall(SYS_close_range, 3u, ~0u, 0);
  const auto words = pointers(program.words), environment = pointers(program.environment);
  if (::chdir(program.working_directory.c_str()) == 0) {
    ::execvpe(words[0], words.data(), environment.data());
  }
  dprintf(STDERR_FILENO, "%s\n", with_errno(concat("'", words[0], "' cannot be run")).c_str());
  ::_exit(127);
}

}  // namespace

Result<OwnProcess> start_own_process(const OwnProgram& program) {
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) return Error{Errc::io, with_errno("a new process")};
  if (pid == 0) become(program, parent);
  return OwnProcess{pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
}

}  // namespace piracema::ckpt
