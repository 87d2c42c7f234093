#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/text.h"
#include "net/socket/tcp_state.h"
#include "wire/frame.h"

namespace piracema::net {

/// Why a connection with an earlier incarnation of a slot is lost.
inline Error replaced_by(std::uint32_t incarnation) {
  return {Errc::refused, concat("replaced by incarnation ", incarnation)};
}

/// A connection to another host.
struct LinkState {
  Slot to = 0;
  TcpState tcp;
};

/// Carries frames between the processes of one job: reliable and in order between two of them
/// while their connection lasts, and nothing after it is lost.
class Transport {
 public:
  /// Called on the transport's own thread; they must not block, nor destroy the transport.
  struct Events {
    /// The answer to `connect`; also when a peer with a higher slot connects unasked, which then
    /// is told again by `connect`.
    std::function<void(Slot peer, std::uint32_t incarnation)> connected;
    /// Between `connected` and `lost` of that peer.
    std::function<void(Slot from, wire::Frame frame)> received;
    /// Once for each connection that ends, for whatever reason (Errc::refused: a later
    /// incarnation took its place), and for each `connect` that comes to nothing.
    std::function<void(Slot peer, std::uint32_t incarnation, Error why)> lost;
  };

  virtual ~Transport() = default;

  /// Where peers reach this process; what to give to their `connect`.
  virtual std::string address() const = 0;

  /// Wants a connection with this process at `address`, and none with an earlier incarnation of
  /// the slot any longer. Of two peers the one with the higher slot calls, again and again for a
  /// few seconds, and the other one waits as long. Returns at once; `connected` or `lost`
  /// follows, `connected` at once if they are connected already. Any thread.
  virtual void connect(Slot peer, std::uint32_t incarnation, std::string address) = 0;

  /// Queues a frame, never blocks; drops it when the peer is not connected. What is queued is
  /// bounded by the credits of those who send. Any thread; frames of one thread stay in order.
  virtual void send(Slot to, wire::Frame frame) = 0;

  /// The same for several at once, in their order: one write may do for all.
  virtual void send(Slot to, std::vector<wire::Frame> frames) {
    for (wire::Frame& frame : frames) send(to, std::move(frame));
  }

  /// Of the connections that lead to other hosts, where the system can tell. The transport's own
  /// thread.
  virtual std::vector<LinkState> links() { return {}; }
};

}  // namespace piracema::net
