#include "net/rings/byte_ring.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/ensure.h"

namespace piracema::net {

namespace {

// So much is copied before the other side may begin with it: both copy at the same time.
constexpr std::size_t piece_bytes = std::size_t{32} << 10;

}  // namespace

void Bell::ring() const {
  // It cannot fail but by being full, and then it is heard anyway.
  eventfd_write(fd_, 1);
}

void Bell::quiet() const {
  eventfd_t count = 0;
  eventfd_read(fd_, &count);
}

// ---- writer ----------------------------------------------------------------------------------

RingWriter::RingWriter(RingHead& head, std::span<std::byte> room, Bell reader)
    : head_(head), room_(room), reader_(reader) {
  ENSURE(!room.empty() && (room.size() & (room.size() - 1)) == 0);
}

ssize_t RingWriter::write(const iovec* parts, std::size_t count) {
  const std::uint64_t used =
      written_.load(std::memory_order_relaxed) - head_.read.load(std::memory_order_acquire);
  if (used > room_.size()) {
    errno = EPROTO;
    return -1;
  }
  std::size_t free = room_.size() - used;
  std::size_t total = 0;
  std::size_t unpublished = 0;
  for (std::size_t i = 0; i < count && free > 0; ++i) {
    const auto* from = static_cast<const std::byte*>(parts[i].iov_base);
    for (std::size_t done = 0; done < parts[i].iov_len && free > 0;) {
      const std::size_t piece =
          copy_in(from + done, std::min({parts[i].iov_len - done, free, piece_bytes}));
      done += piece;
      free -= piece;
      total += piece;
      unpublished += piece;
      if (unpublished >= piece_bytes) {
        publish();
        unpublished = 0;
      }
    }
  }
  if (unpublished != 0) publish();
  if (total != 0) return static_cast<ssize_t>(total);
  errno = EAGAIN;
  return -1;
}

// Up to the end of the memory; the rest by another call.
std::size_t RingWriter::copy_in(const std::byte* from, std::size_t count) {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  const std::size_t at = written & (room_.size() - 1);
  const std::size_t piece = std::min(count, room_.size() - at);
  std::memcpy(room_.data() + at, from, piece);
  written_.store(written + piece, std::memory_order_relaxed);
  return piece;
}

// The flag is looked at after the counter is there, and the reader does it the other way round:
// one of the two sees the other (Dekker).
void RingWriter::publish() {
  head_.written.store(written_.load(std::memory_order_relaxed), std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (head_.reader_sleeps.load(std::memory_order_relaxed) == 0) return;
  if (head_.reader_sleeps.exchange(0) != 0) reader_.ring();
}

bool RingWriter::wait_for_room() {
  head_.writer_waits.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint64_t used =
      written_.load(std::memory_order_relaxed) - head_.read.load(std::memory_order_acquire);
  return used > room_.size() / 2;
}

// ---- reader ----------------------------------------------------------------------------------

RingReader::RingReader(RingHead& head, std::span<const std::byte> room, Bell writer)
    : head_(head), room_(room), writer_(writer) {
  ENSURE(!room.empty() && (room.size() & (room.size() - 1)) == 0);
}

ssize_t RingReader::read(const iovec* parts, std::size_t count) {
  const std::uint64_t there = head_.written.load(std::memory_order_acquire) - read_;
  if (there > room_.size()) {
    errno = EPROTO;
    return -1;
  }
  if (there != 0 && std::exchange(asleep_, false)) spin_.slept();
  std::size_t left = there;
  for (std::size_t i = 0; i < count && left > 0; ++i) {
    auto* to = static_cast<std::byte*>(parts[i].iov_base);
    for (std::size_t done = 0; done < parts[i].iov_len && left > 0;) {
      const std::size_t piece =
          copy_out(to + done, std::min({parts[i].iov_len - done, left, piece_bytes}));
      done += piece;
      left -= piece;
      free_room();
    }
  }
  if (left != there) return static_cast<ssize_t>(there - left);
  errno = EAGAIN;
  return -1;
}

std::size_t RingReader::copy_out(std::byte* to, std::size_t count) {
  const std::size_t at = read_ & (room_.size() - 1);
  const std::size_t piece = std::min(count, room_.size() - at);
  std::memcpy(to, room_.data() + at, piece);
  read_ += piece;
  return piece;
}

// As `publish`. Half of the ring at once, so that the two do not wake each other for every piece.
void RingReader::free_room() {
  head_.read.store(read_, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (head_.writer_waits.load(std::memory_order_relaxed) == 0) return;
  if (head_.written.load(std::memory_order_relaxed) - read_ > room_.size() / 2) return;
  if (head_.writer_waits.exchange(0) != 0) writer_.ring();
}

bool RingReader::sleep() {
  asleep_ = true;
  head_.reader_sleeps.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return is_empty();
}

}  // namespace piracema::net
