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
// Sealed before they are written.
constexpr std::size_t sealed_at_once = std::size_t{128} << 10;

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

// A record that was begun is written before anything else, so frames are gone once they are sealed.
int FrameWriter::write(int socket, RecordWriter& records) {
  while (true) {
    while (sealed_written_ < sealed_.size()) {
      const std::size_t left = sealed_.size() - sealed_written_;
      const ssize_t count =
          ::send(socket, sealed_.data() + sealed_written_, left, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      sealed_written_ += static_cast<std::size_t>(count);
      if (static_cast<std::size_t>(count) < left) return EAGAIN;
    }
    sealed_written_ = 0;
    sealed_.clear();
    if (first_ == nullptr) return 0;
    while (first_ != nullptr && sealed_.size() < sealed_at_once) seal_some(records);
  }
}

void FrameWriter::seal_some(RecordWriter& records) {
  iovec parts[parts_max];
  std::size_t bytes = 0;
  const std::size_t count = gather(parts, parts_max, bytes);
  // No more than fits, so that a large frame is not held twice.
  std::size_t kept = 0, fits = 0;
  while (kept < count && fits < sealed_at_once) fits += parts[kept++].iov_len;
  if (fits > sealed_at_once) parts[kept - 1].iov_len -= fits - sealed_at_once;
  records.seal({parts, kept}, sealed_);
  written(std::min(fits, sealed_at_once));
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
  sealed_ = {};
  sealed_written_ = 0;
}

}  // namespace piracema::net
