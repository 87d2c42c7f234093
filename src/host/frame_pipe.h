#pragma once

#include <piracema/error.h>

#include <cstdint>

#include "net/socket/frame_reader.h"

namespace piracema::ckpt {

/// Frames (docs/formats/frame.md) over a pair of descriptors that somebody else owns: a remote
/// shell's, a socket. Each has a kind, and a head of up to 1 MiB. One thread.
class FramePipe {
 public:
  FramePipe(int in, int out);

  int in() const { return in_; }

  /// Waits until all is taken. Errc::lost if the other side has gone, or takes nothing for
  /// `patience`.
  Result<Done> send(std::uint8_t kind, Bytes head);

  /// Takes what has come; waits for it if the descriptor does. Errc::lost at the end.
  Result<Done> fill();
  /// The next frame of that, or none. Errc::corrupt for what is no frame.
  Result<net::MaybeFrame> next() { return reader_.next(); }
  /// The next frame, waited for. Errc::lost, Errc::corrupt.
  Result<wire::Frame> wait();

 private:
  int in_, out_;
  net::FrameReader reader_;
};

}  // namespace piracema::ckpt
