#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/fd.h"
#include "loop/poller.h"
#include "net/socket/address.h"

namespace piracema::net {

/// One attempt to connect to a TCP address. Belongs to the poller's thread.
class Dial {
 public:
  /// A connected, non-blocking socket, or why there is none: Errc::io with the system's reason,
  /// Errc::timeout after `deadline`.
  using OnDone = std::function<void(Result<Fd> socket)>;

  /// Calls `on_done` once and later, never from within. It may destroy the Dial.
  Dial(Poller& poller, const Address& address, Time deadline, OnDone on_done);
  /// Gives up, without a call.
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

 private:
  void connected();
  void finish(Result<Fd> result);

  Poller& poller_;
  Address address_;
  Fd socket_;
  OnDone on_done_;
  Poller::Timer timer_;
};

}  // namespace piracema::net
