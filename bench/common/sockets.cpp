#include "bench/common/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/text.h"

namespace piracema::bench {

std::pair<Fd, Fd> tcp_pair() {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  ENSURE(::bind(listener.get(), where, length) == 0 && ::listen(listener.get(), 1) == 0);
  ENSURE(::getsockname(listener.get(), where, &length) == 0);
  Fd near(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ENSURE(::connect(near.get(), where, length) == 0);
  Fd far(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int on = 1;
  for (const Fd* end : {&near, &far}) {
    ENSURE(::setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
  }
  return {std::move(near), std::move(far)};
}

void send_all(int socket, const char* data, std::size_t bytes) {
  for (std::size_t out = 0; out < bytes;) {
    const ssize_t count = ::send(socket, data + out, bytes - out, MSG_NOSIGNAL);
    ENSURE(count > 0);
    out += static_cast<std::size_t>(count);
  }
}

double cpu_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    }
  }
  return seconds;
}

Result<Sample> two_processes(const std::function<void()>& child,
                             const std::function<bool()>& parent) {
  const double cpu_before = cpu_seconds();
  const Time start = now();
  const pid_t other = ::fork();
  if (other < 0) return Error{Errc::io, with_errno("fork")};
  if (other == 0) {
    child();
    ::_exit(0);
  }
  const bool right = parent();
  const std::chrono::duration<double> took = now() - start;
  int status = 0;
  ::waitpid(other, &status, 0);
  if (!right || status != 0) return Error{Errc::failed, "an item is missing or wrong"};
  return Sample{.wall_s = took.count(), .cpu_s = cpu_seconds() - cpu_before};
}

}  // namespace piracema::bench
