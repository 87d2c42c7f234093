#pragma once

#include <piracema/bytes.h>

#include <cstddef>
#include <cstdint>

#include "smr/link/handshake.h"

namespace piracema::smr {

/// A connection that carries messages, to somebody who has shown who he is. Link is one over a
/// socket; the simulator has its own.
class MessageLink {
 public:
  virtual ~MessageLink() = default;

  virtual const PeerName& peer() const = 0;
  /// Queues a message, the pieces one behind the other. False, and nothing is queued, if too much
  /// is waiting or the link is not there (yet, or any more).
  virtual bool send(std::uint8_t kind, Bytes first, Bytes second = {}) = 0;
  /// Stops reading, or goes on: a peer that asks for too much waits in its own socket.
  virtual void pause(bool paused) = 0;
  /// Of what the peer may send from now on.
  virtual void limit_messages(std::size_t bytes) = 0;
  /// What it keeps: halves of messages that came, and what waits to be written.
  virtual std::size_t kept_bytes() const = 0;
  /// Ends it, without an event.
  virtual void close() = 0;
};

}  // namespace piracema::smr
