#include "os/bystander.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr int socket_number = 3;

// In the new process: nothing is open but what its socket becomes.
void leave_files(Fd socket) {
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(nothing, fd);
  const int high = ::fcntl(socket.get(), F_DUPFD, 100);
  ::dup2(high, socket_number);
  ::syscall(SYS_close_range, static_cast<unsigned>(socket_number) + 1, ~0u, 0);
  // Its number is closed already, or it is the one that stays.
  socket.release();
}

}  // namespace

Result<Fd> start_bystander(const std::function<void(Fd socket)>& body) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socketpair")};
  }
  Fd here(ends[0]), there(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return Error{Errc::io, with_errno("a new process")};
  if (pid > 0) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) return Error{Errc::io, "a new process: the system makes no second one"};
    return here;
  }
  const pid_t second = ::fork();
  if (second != 0) ::_exit(second > 0 ? 0 : 1);
  ::setsid();
  leave_files(std::move(there));
  here.release();
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  body(Fd(socket_number));
  ::_exit(0);
}

}  // namespace piracema::ckpt
