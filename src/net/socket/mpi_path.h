#pragma once

#include <piracema/bytes.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/fd.h"
#include "net/rings/byte_ring.h"
#include "net/socket/mpi_plugin.h"

namespace piracema::net {

/// What a channel by MPI is made of: a ring of bytes each way between the threads of a Connection
/// and the one that talks to MPI, which sends what is in the one in messages, and puts messages
/// into the other. An empty message is the end.
class MpiPath {
 public:
  static constexpr std::size_t ring_bytes = std::size_t{512} << 10;
  /// A message at most, and how many of them may be under way.
  static constexpr std::size_t message_bytes = std::size_t{256} << 10;
  static constexpr std::size_t messages_max = 4;

  /// `world` rings when the thread of MPI has something to do. Throws std::system_error when the
  /// process has no descriptors left.
  MpiPath(const PiracemaMpi& mpi, std::uint32_t tag, Bell world);
  ~MpiPath();

  // ---- the connection's side
  const std::uint32_t tag;
  Fd bell;
  RingWriter& out() { return out_writer_; }
  RingReader& in() { return in_reader_; }
  void join(std::uint32_t rank, std::uint32_t tag);
  void close() { closed_.store(true, std::memory_order_release); }
  bool is_over() const { return over_.load(std::memory_order_acquire); }

  // ---- the side of MPI
  /// Sends what is to be sent, and passes on what has come; true if there was any.
  bool turn();
  void received(Buffer message);
  /// Nothing is sent any more, and nothing comes: both have closed it, or it was never joined.
  bool is_done() const { return ended_ && sending_.empty() && (other_ == 0 || end_came_); }
  /// Asks for the world's bell when there is something to send; false if there is already.
  bool sleep();

 private:
  struct Message {
    Buffer bytes;
    void* handle = nullptr;
  };

  bool send_some();
  bool pass_on();

  const PiracemaMpi& mpi_;
  std::vector<std::byte> out_room_{ring_bytes}, in_room_{ring_bytes};
  RingHead out_head_, in_head_;
  RingWriter out_writer_;
  RingReader out_reader_;
  RingWriter in_writer_;
  RingReader in_reader_;

  /// Rank and tag of the other side, once it is known: (rank << 32) | tag, tags are above 0.
  std::atomic<std::uint64_t> other_ = 0;
  std::atomic<bool> closed_ = false, over_ = false;

  // Of the thread of MPI.
  std::deque<Message> sending_;
  bool ended_ = false;
  /// What the ring has no room for yet: as much as the senders have credit for.
  std::deque<Buffer> waiting_;
  std::size_t passed_on_ = 0;
  bool end_came_ = false;
};

}  // namespace piracema::net
