#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "loop/poller.h"
#include "net/socket/address.h"

namespace piracema::net {

/// Accepts connections over TCP, or to a local socket. Belongs to the poller's thread.
class Listener {
 public:
  using OnAccept = std::function<void(Fd socket, const Address& peer)>;

  /// Port 0 is any that is free. Errc::config for a host that is no numeric address, Errc::io
  /// naming the address when it is taken or not ours.
  static Result<std::unique_ptr<Listener>> open(Poller& poller, const std::string& host,
                                                std::uint16_t port, OnAccept on_accept);
  /// At an address of either kind.
  static Result<std::unique_ptr<Listener>> open(Poller& poller, const Address& address,
                                                OnAccept on_accept);
  ~Listener();

  /// Leaves those who call in line, until `go_on`.
  void hold();
  void go_on();

  /// "127.0.0.1:4711" or "local:NAME".
  std::string address() const { return address_.text(); }

 private:
  Listener(Poller& poller, Fd socket, Address address, OnAccept on_accept);

  void watch();
  void accept();
  void rest();

  Poller& poller_;
  Fd socket_;
  Address address_;
  OnAccept on_accept_;
  std::optional<Poller::Timer> resting_;
  bool held_ = false;
};

}  // namespace piracema::net
