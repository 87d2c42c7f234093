#include "ckpt/capsule/capsule.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef P_PIDFD
constexpr idtype_t P_PIDFD = static_cast<idtype_t>(3);
#endif

constexpr unsigned long namespaces =
    CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

}  // namespace

std::string address_of(std::size_t host) { return concat("10.77.0.", host + 1); }

Result<Capsule> Capsule::open(const CapsuleSettings& settings) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socketpair")};
  }
  Fd here(ends[0]), there(ends[1]);
  const auto user = ordinary_user();
  const unsigned long kinds = namespaces | (user ? CLONE_NEWUSER : 0);
  // As fork(2), with namespaces; this process has one thread.
  const long pid = ::syscall(SYS_clone, kinds | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid < 0) {
    const Errc kind = errno == EPERM || errno == ENOSPC ? Errc::config : Errc::io;
    const std::string why =
        with_errno(user ? "a capsule wants new namespaces"
                        : "a capsule wants root (CAP_SYS_ADMIN): new namespaces");
    return Error{kind, why + namespace_advice(user)};
  }
  if (pid == 0) {
    here.close();
    capsule_main(std::move(there), settings, user);
  }
  Capsule capsule(static_cast<pid_t>(pid), Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
                  std::move(here));
  there.close();
  if (capsule.init_) return capsule;
  const Error error{Errc::io, with_errno("pidfd of a capsule")};
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return error;
}

Result<Report> Capsule::receive() {
  Buffer room;
  room.resize(message_bytes_max);
  for (;;) {
    const ssize_t bytes = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return Error{Errc::not_found, "no report yet"};
    if (bytes <= 0) return Error{Errc::lost, "the capsule has ended"};
    return wire::decode<Report>(Bytes(room).first(static_cast<std::size_t>(bytes)));
  }
}

Result<Done> Capsule::send(Order order) {
  const Buffer bytes = wire::encode(std::move(order));
  if (bytes.size() > message_bytes_max) {
    return Error{Errc::config, concat("want a command of at most ", message_bytes_max, " bytes")};
  }
  if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) {
    return Error{Errc::lost, with_errno("capsule")};
  }
  return Done{};
}

void Capsule::kill() {
  if (!init_) return;
  // The kernel kills all others in its process namespace before the first one is gone.
  (void)::syscall(SYS_pidfd_send_signal, init_.get(), SIGKILL, nullptr, 0);
  siginfo_t ended{};
  while (::waitid(P_PIDFD, static_cast<id_t>(init_.get()), &ended, WEXITED) < 0 && errno == EINTR) {
  }
  init_.close();
}

}  // namespace piracema::ckpt
