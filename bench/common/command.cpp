#include "bench/common/command.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"

namespace piracema::bench {

namespace {

constexpr off_t last_words_bytes = 2'000;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::string content(int fd, off_t from) {
  std::string bytes;
  char part[65536];
  for (ssize_t got; (got = ::pread(fd, part, sizeof part, from)) > 0; from += got) {
    bytes.append(part, static_cast<std::size_t>(got));
  }
  return bytes;
}

// Only calls that are safe after fork. A failure is said through `failed`, as errno.
[[noreturn]] void become(char* const* arguments, int in, int out, int err, int failed,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent && ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2) {
    ::execvp(arguments[0], arguments);
  }
  const int error = errno;
  const ssize_t ignored = ::write(failed, &error, sizeof error);
  ::_exit(ignored == sizeof error ? 127 : 126);
}

// In megabytes, what this process has in memory now.
double own_memory_mb() {
  std::ifstream in("/proc/self/statm");
  double pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

// True when the process ended before the time was up.
bool wait_for_end(pid_t child, std::chrono::seconds timeout) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!process) return true;  // An old kernel: then it is waited for without limit.
  pollfd wanted{process.get(), POLLIN, 0};
  const Time end = now() + timeout;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now());
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready != 0;
  }
}

}  // namespace

Result<Sample> run_command(const std::vector<std::string>& command, const CommandOptions& options) {
  if (command.empty()) return Error{Errc::usage, "want a command, found none"};
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  const Fd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd out(::memfd_create("output", MFD_CLOEXEC));
  const Fd err(::memfd_create("errors", MFD_CLOEXEC));
  int ends[2];
  // Several processes may write: without this one could write over what another one has.
  const auto append = [](const Fd& to) { return ::fcntl(to.get(), F_SETFL, O_APPEND) == 0; };
  if (!in || !out || !err || !append(out) || !append(err) || ::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{Errc::io, with_errno(concat("'", command[0], "' cannot be started"))};
  }
  const Fd failed_read(ends[0]);
  Fd failed_write(ends[1]);

  // The system counts what a process had before it became the command, a copy of this one: that
  // is kept small, and a peak that is not above it says nothing.
  ::malloc_trim(0);
  const double own_mb = own_memory_mb();
  const pid_t parent = ::getpid();
  const Time start = now();
  const pid_t child = ::fork();
  if (child == 0) {
    become(arguments.data(), in.get(), options.output != nullptr ? out.get() : err.get(), err.get(),
           failed_write.get(), parent);
  }
  if (child < 0) return Error{Errc::io, with_errno("fork")};
  failed_write.close();

  int error = 0;
  const bool started = ::read(failed_read.get(), &error, sizeof error) == 0;
  const bool in_time = wait_for_end(child, options.timeout);
  if (!in_time) ::kill(-child, SIGKILL);
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  const Time end = now();

  if (!started) {
    errno = error;
    return Error{Errc::io, with_errno(concat("'", command[0], "' cannot be started"))};
  }
  if (options.output != nullptr) *options.output = content(out.get(), 0);
  if (options.last_words != nullptr) {
    const off_t written = ::lseek(err.get(), 0, SEEK_END);
    *options.last_words = content(err.get(), std::max<off_t>(0, written - last_words_bytes));
  }
  if (!in_time) {
    return Error{Errc::timeout, concat("'", command[0], "' has not ended within ",
                                       options.timeout.count(), " s, and was killed")};
  }
  const double peak_mb = static_cast<double>(used.ru_maxrss) * 1024 / 1e6;
  return Sample{.wall_s = std::chrono::duration<double>(end - start).count(),
                .cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime),
                .peak_mb = peak_mb > own_mb ? peak_mb : 0,
                .exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
}

}  // namespace piracema::bench
