#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "loop/poller.h"
#include "net/transport/transport.h"

namespace piracema::net {

/// Connects transports within one process: frames are moved, not copied. For tests, and for
/// programs that run several workers as threads.
class InProcessHub {
 public:
  InProcessHub();

  /// A transport that behaves like TCP between the processes of a job. Events are called on the
  /// poller's thread, on which the transport is also to be destroyed (or while nobody runs the
  /// poller): to its peers that is the end of the process. It keeps the hub alive. Any thread.
  std::unique_ptr<Transport> join(
      Poller& poller, Slot me, std::uint32_t incarnation, Transport::Events events,
      std::chrono::milliseconds connect_timeout = std::chrono::milliseconds(5'000));

 private:
  class State;
  class Endpoint;
  std::shared_ptr<State> state_;
};

}  // namespace piracema::net
