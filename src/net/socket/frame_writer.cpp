#include "net/socket/frame_writer.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace piracema::net {

namespace {

constexpr std::size_t parts_max = 96;
constexpr std::size_t parts_per_frame = 3;

std::array<Bytes, parts_per_frame> parts_of(const Outgoing& out) {
  return {Bytes(out.header), Bytes(out.frame.head), Bytes(out.frame.body)};
}

std::size_t size_of(const Outgoing& out) {
  return out.header.size() + out.frame.head.size() + out.frame.body.size();
}

}  // namespace

bool FrameWriter::add(Outgoing* oldest) {
  if (oldest == nullptr) return false;
  (first_ == nullptr ? first_ : last_->next) = oldest;
  for (last_ = oldest; last_->next != nullptr;) last_ = last_->next;
  return true;
}

int FrameWriter::write(int socket) {
  while (first_ != nullptr) {
    iovec parts[parts_max];
    std::size_t bytes = 0;
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = gather(parts, parts_max, bytes);
    const ssize_t count = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    written(static_cast<std::size_t>(count));
    // It took what it has room for: no need to be told EAGAIN by a second call.
    if (static_cast<std::size_t>(count) < bytes) return EAGAIN;
  }
  return 0;
}

int FrameWriter::write(ByteChannel& channel) {
  while (first_ != nullptr) {
    iovec parts[parts_max];
    std::size_t bytes = 0;
    const std::size_t count = gather(parts, parts_max, bytes);
    const ssize_t copied = channel.write(parts, count);
    if (copied < 0) return errno;
    written(static_cast<std::size_t>(copied));
    if (static_cast<std::size_t>(copied) < bytes) return EAGAIN;
  }
  return 0;
}

std::size_t FrameWriter::gather(iovec* parts, std::size_t limit, std::size_t& bytes) const {
  std::size_t count = 0;
  std::size_t skip = offset_;
  for (const Outgoing* out = first_; out != nullptr && count + parts_per_frame <= limit;
       out = out->next) {
    for (Bytes part : parts_of(*out)) {
      const std::size_t skipped = std::min(skip, part.size());
      skip -= skipped;
      part = part.subspan(skipped);
      if (part.empty()) continue;
      parts[count++] = {const_cast<std::byte*>(part.data()), part.size()};
      bytes += part.size();
    }
  }
  return count;
}

void FrameWriter::written(std::size_t bytes) {
  offset_ += bytes;
  while (first_ != nullptr && offset_ >= size_of(*first_)) {
    offset_ -= size_of(*first_);
    delete std::exchange(first_, first_->next);
  }
}

void FrameWriter::clear() {
  while (first_ != nullptr) delete std::exchange(first_, first_->next);
  offset_ = 0;
}

}  // namespace piracema::net
