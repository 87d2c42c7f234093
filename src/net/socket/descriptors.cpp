#include "net/socket/descriptors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::net {

namespace {

/// Room for a message's descriptors, aligned as the kernel wants it.
union Control {
  char bytes[CMSG_SPACE(sizeof(int) * descriptors_max)];
  cmsghdr aligned;
};

}  // namespace

Result<Done> send_with_descriptors(int socket, Bytes bytes, std::span<const int> descriptors) {
  ENSURE(descriptors.size() <= descriptors_max);
  Control control{};
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(bytes.size())) return Done{};
  if (sent >= 0) return Error{Errc::io, "offering shared memory: the socket is full"};
  return Error{Errc::io, with_errno("offering shared memory")};
}

ssize_t read_with_descriptors(int socket, std::span<iovec> parts, std::vector<Fd>& descriptors) {
  Control control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (count < 0) return count;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t bytes = head->cmsg_len - CMSG_LEN(0);
    for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + at, sizeof fd);
      Fd owned(fd);
      if (descriptors.size() < descriptors_max) descriptors.push_back(std::move(owned));
    }
  }
  return count;
}

std::optional<uid_t> user_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

bool is_our_user(int socket) { return user_of(socket) == ::geteuid(); }

}  // namespace piracema::net
