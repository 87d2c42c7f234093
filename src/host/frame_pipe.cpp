#include "host/frame_pipe.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "wire/frame.h"

namespace piracema::ckpt {

namespace {

constexpr std::uint64_t head_bytes_max = std::uint64_t{1} << 20;
// srun passes lines on, and keeps what is not ended by one.
constexpr std::string_view line_end = "\n";
constexpr int patience_ms = 30'000;

}  // namespace

FramePipe::FramePipe(int in, int out)
    : in_(in), out_(out), reader_({.head_bytes = head_bytes_max, .body_bytes = line_end.size()}) {}

Result<Done> FramePipe::send(std::uint8_t kind, Bytes head) {
  wire::Frame frame{.kind = kind, .head = Buffer(head), .body = Buffer(as_bytes(line_end))};
  Buffer bytes;
  wire::write_header(frame, bytes.extend(wire::frame_header_bytes));
  bytes.append(head.data(), head.size());
  bytes.append(frame.body.data(), frame.body.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::write(out_, bytes.data() + at, bytes.size() - at);
    if (count >= 0) {
      at += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd wait{out_, POLLOUT, 0};
      if (::poll(&wait, 1, patience_ms) == 0) return Error{Errc::lost, "it takes nothing any more"};
    } else if (errno != EINTR) {
      return Error{Errc::lost, with_errno("it has gone")};
    }
  }
  return Done{};
}

Result<Done> FramePipe::fill() {
  const auto room = reader_.room();
  const ssize_t count = ::readv(in_, room.data(), static_cast<int>(room.size()));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Done{};
  if (count < 0) return Error{Errc::lost, with_errno("it has gone")};
  if (count == 0) return Error{Errc::lost, "it has ended"};
  reader_.filled(static_cast<std::size_t>(count));
  return Done{};
}

Result<wire::Frame> FramePipe::wait() {
  for (;;) {
    auto frame = next();
    if (!frame) return frame.error();
    if (*frame) return *std::move(*frame);
    if (auto filled = fill(); !filled) return filled.error();
  }
}

}  // namespace piracema::ckpt
