#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loop/poller.h"
#include "net/socket/address.h"

namespace piracema::net {

/// A host, by number or by name, and a TCP port.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  HostPort() = default;
  /// By number.
  HostPort(const Address& address) : host(address.host()), port(address.port()) {}

  /// "10.0.0.1:7000", "[::1]:7000" or "db-1.example.org:7000". Errc::config says what was found.
  static Result<HostPort> parse(std::string_view text);
  /// As `parse` reads it.
  std::string text() const;
  /// The address, if the host is a number; else Errc::config.
  Result<Address> numeric() const { return Address::make(host, port); }
  /// Asks name servers, which may take half a minute. At least one; a name may stand for several.
  /// Errc::io.
  Result<std::vector<Address>> look_up() const;
};

/// One look-up that nobody waits for: on a thread of its own. Belongs to the poller's thread.
class Lookup {
 public:
  using OnDone = std::function<void(Result<std::vector<Address>>)>;

  /// Calls `done` once and later, never from within; it may destroy the Lookup.
  Lookup(Poller& poller, const HostPort& what, OnDone done);
  /// Gives up, without a call.
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace piracema::net
