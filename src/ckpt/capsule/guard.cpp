#include "ckpt/capsule/guard.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "os/bystander.h"

namespace piracema::ckpt {

namespace {

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/// What is sent: a time, and with it the process, or no process.
union Room {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

void send_order(int socket, Time when, int process) {
  iovec text{&when, sizeof when};
  Room room{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  if (process >= 0) {
    message.msg_control = room.bytes;
    message.msg_controllen = sizeof room.bytes;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &process, sizeof process);
  }
  // It does nothing else than to receive these.
  (void)::sendmsg(socket, &message, MSG_NOSIGNAL);
}

// False when who asked has ended.
bool receive_order(int socket, Time& when, Fd& process) {
  iovec text{&when, sizeof when};
  Room room{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  const ssize_t bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (bytes < 0 && errno == EINTR) return true;
  if (bytes != static_cast<ssize_t>(sizeof when)) return false;
  process = Fd();
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return true;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  process = Fd(fd);
  return true;
}

void stand_guard(int socket) {
  Time when{};
  Fd process;
  for (;;) {
    pollfd wait{socket, POLLIN, 0};
    int left = -1;
    if (process) {
      const auto ms = std::chrono::ceil<std::chrono::milliseconds>(when - now()).count();
      left = static_cast<int>(std::clamp<std::int64_t>(ms, 0, 3'600'000));
    }
    if (::poll(&wait, 1, left) > 0) {
      // All that was said comes first, be it late: the end of who asked, too.
      if (!receive_order(socket, when, process)) return;
      continue;
    }
    if (process && now() >= when) {
      (void)::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
      process = Fd();
    }
  }
}

}  // namespace

Result<Guard> Guard::start() {
  auto socket = start_bystander([](Fd there) { stand_guard(there.get()); });
  if (!socket) return socket.error();
  return Guard(*std::move(socket));
}

void Guard::kill_at(int process, Time when) { send_order(socket_.get(), when, process); }

void Guard::forget() { send_order(socket_.get(), Time{}, -1); }

}  // namespace piracema::ckpt
