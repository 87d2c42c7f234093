#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "net/address.h"
#include "net/connection.h"
#include "net/dial.h"
#include "net/handshake.h"
#include "net/poller.h"

namespace piracema::net {

/// One peer being called: dialled and greeted, and again a little later when it does not answer
/// as it should, for it may still be starting. Belongs to the poller's thread.
class Call {
 public:
  struct Whom {
    Slot slot = 0;
    std::uint32_t incarnation = 0;
    std::string address;
  };
  /// A connection whose peer is the one wanted, still to be trusted; or why the last attempt
  /// before the deadline failed. Errc::config at once for an address that is none.
  using OnDone = std::function<void(Result<std::shared_ptr<Connection>>)>;

  /// Calls `on_done` once and later, never from within. It may destroy the Call.
  Call(Poller& poller, Greeting mine, Whom whom, Time deadline, OnDone on_done);
  /// Hangs up, without a call.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  void dial();
  void greet(Fd socket);
  void answered(const wire::Frame& frame);
  Result<Done> check(const wire::Frame& frame) const;
  void failed(Error why);
  void finish(Result<std::shared_ptr<Connection>> result);

  Poller& poller_;
  const Greeting mine_;
  const Whom whom_;
  const Time deadline_;
  OnDone on_done_;

  Address address_;
  std::unique_ptr<Dial> dial_;
  std::shared_ptr<Connection> connection_;
  Poller::Timer next_{};
};

}  // namespace piracema::net
