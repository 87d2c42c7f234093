#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/adaptive_spin.h"

namespace piracema::net {

/// The two counters of a ring in memory that two processes share, each with a flag for the side
/// that sleeps; docs/formats/ring.md. One process writes `written` and `reader` sleeps on it, the
/// other one the rest. Counters only grow: their difference is what lies in the ring.
struct RingHead {
  std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint32_t> writer_waits{0};
  // Two lines of the cache: processors fetch them in pairs.
  alignas(128) std::atomic<std::uint64_t> read{0};
  std::atomic<std::uint32_t> reader_sleeps{1};
};
static_assert(sizeof(RingHead) == 256 && std::atomic<std::uint64_t>::is_always_lock_free);

/// One end of a bell: an eventfd that the other process's poller watches. Not owned.
class Bell {
 public:
  explicit Bell(int fd = -1) : fd_(fd) {}
  void ring() const;
  /// Before what it rang for is looked at.
  void quiet() const;

 private:
  int fd_;
};

/// The writing end of a ring of bytes, without locks (Lamport 1977: one writer, one reader).
///
/// The other process may do anything to the shared memory: what is read from there is checked
/// against this end's own counter, and no address is ever taken from it. One thread at a time.
class RingWriter {
 public:
  /// `room` is shared too; its size is a power of two and no business of the other side.
  RingWriter(RingHead& head, std::span<std::byte> room, Bell reader);

  /// Copies what there is room for, and wakes a reader that sleeps. As writev(2): the number of
  /// bytes, or -1 with errno: EAGAIN, or EPROTO for a counter that makes no sense.
  ssize_t write(const iovec* parts, std::size_t count);

  /// Asks to be told when half of the ring is free; false if it is already. Another thread may
  /// have begun to write.
  bool wait_for_room();

 private:
  std::size_t copy_in(const std::byte* from, std::size_t count);
  void publish();

  RingHead& head_;
  const std::span<std::byte> room_;
  const Bell reader_;
  std::atomic<std::uint64_t> written_ = 0;
};

/// The reading end; as for the other one.
class RingReader {
 public:
  RingReader(RingHead& head, std::span<const std::byte> room, Bell writer);

  /// Copies what has come, and wakes a writer that waits for room. As readv(2), but never 0: -1
  /// with errno EAGAIN when the ring is empty, EPROTO for a counter that makes no sense.
  ssize_t read(const iovec* parts, std::size_t count);

  /// Something is there, or comes within the short while that it is worth to stay awake for.
  bool is_worth_waiting() {
    return spin_.until([this] { return !is_empty(); });
  }

  /// Asks to be told of the next bytes; false if some are there already.
  bool sleep();

  std::size_t capacity() const { return room_.size(); }

 private:
  std::size_t copy_out(std::byte* to, std::size_t count);
  bool is_empty() const { return head_.written.load(std::memory_order_acquire) == read_; }
  void free_room();

  RingHead& head_;
  const std::span<const std::byte> room_;
  const Bell writer_;
  std::uint64_t read_ = 0;
  AdaptiveSpin spin_;
  bool asleep_ = false;
};

}  // namespace piracema::net
