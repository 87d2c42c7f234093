#pragma once

#include <sys/uio.h>

#include <cstddef>

#include "net/rings/byte_channel.h"
#include "net/socket/records.h"
#include "net/socket/send_queue.h"

namespace piracema::net {

/// Frames being written to a stream socket or a channel, many with one system call, each from where
/// it lies. Not safe to share: it belongs to the writer of a SendQueue.
class FrameWriter {
 public:
  FrameWriter() = default;
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;
  ~FrameWriter() { clear(); }

  /// Takes a list of frames over. False if it is null.
  bool add(Outgoing* oldest);

  /// Writes without waiting. 0: all is written; EAGAIN: the socket has no room for the rest;
  /// anything else: the connection is broken.
  int write(int socket);
  /// The same with a channel; EPROTO when the other side has broken its rules.
  int write(ByteChannel& channel);
  /// The same with a socket, sealed.
  int write(int socket, RecordWriter& records);

  /// Drops what is not written.
  void clear();

 private:
  std::size_t gather(iovec* parts, std::size_t parts_max, std::size_t& bytes) const;
  void written(std::size_t bytes);
  void seal_some(RecordWriter& records);

  Outgoing* first_ = nullptr;
  Outgoing* last_ = nullptr;
  /// How much of `first_`, header included, is written.
  std::size_t offset_ = 0;
  /// Records, and how much of them is written; their frames are gone.
  Buffer sealed_;
  std::size_t sealed_written_ = 0;
};

}  // namespace piracema::net
