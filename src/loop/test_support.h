#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "loop/poller.h"
#include "wire/frame.h"

/// What the tests of this room share.
namespace piracema::net {

/// Runs the poller until something is so; false if it is not within 100 seconds.
template <class Condition>
[[nodiscard]] bool run_until(Poller& poller, Condition&& condition) {
  const Time deadline = now() + std::chrono::seconds(100);
  while (!condition()) {
    if (now() > deadline) return false;
    poller.run_once(std::chrono::milliseconds(100));
  }
  return true;
}

/// Two ends of a stream, neither of which blocks.
inline std::pair<Fd, Fd> stream_pair() {
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

inline wire::Frame frame_of(std::uint8_t kind, std::string_view head, std::string_view body = "") {
  wire::Frame frame;
  frame.kind = kind;
  frame.head = Buffer(as_bytes(head));
  frame.body = Buffer(as_bytes(body));
  return frame;
}

/// As it travels.
inline std::string bytes_of(const wire::Frame& frame) {
  std::byte header[wire::frame_header_bytes];
  wire::write_header(frame, header);
  std::string bytes(as_text(header));
  bytes += as_text(frame.head);
  bytes += as_text(frame.body);
  return bytes;
}

/// The next frame on a socket that waits; the test fails if there is none.
inline wire::Frame hear_frame(int socket) {
  std::byte header[wire::frame_header_bytes];
  REQUIRE(::recv(socket, header, sizeof header, MSG_WAITALL) == sizeof header);
  const auto read = wire::read_header(header);
  REQUIRE(read.ok());
  wire::Frame frame;
  frame.kind = read->kind;
  frame.head.resize(read->head_bytes);
  REQUIRE(::recv(socket, frame.head.data(), frame.head.size(), MSG_WAITALL) ==
          static_cast<ssize_t>(frame.head.size()));
  return frame;
}

inline bool same(const wire::Frame& a, const wire::Frame& b) {
  return a.kind == b.kind && a.epoch == b.epoch && a.from == b.from && a.to == b.to &&
         as_text(a.head) == as_text(b.head) && as_text(a.body) == as_text(b.body);
}

}  // namespace piracema::net
