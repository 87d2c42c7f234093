#pragma once

#include <piracema/error.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace piracema::net {

/// An IPv4 or IPv6 address and a TCP port, or the name of a local socket. Host names are not looked
/// up: that may take seconds.
class Address {
 public:
  Address() = default;

  /// "127.0.0.1:4711", "[::1]:4711" or "local:NAME". Errc::config says what was found instead.
  static Result<Address> parse(std::string_view text);
  static Result<Address> make(const std::string& host, std::uint16_t port);
  /// A socket of this host and network namespace (abstract, unix(7)): no file, gone with its
  /// process. `name`: 1 to 100 letters, digits and '-'. Errc::config.
  static Result<Address> make_local(std::string_view name);

  /// From what the system filled in.
  explicit Address(const sockaddr_storage& from) : storage_(from) {}

  std::string host() const;
  std::uint16_t port() const;
  /// As `parse` reads it.
  std::string text() const;

  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const;
  int family() const { return storage_.ss_family; }
  bool is_local() const { return family() == AF_UNIX; }

 private:
  sockaddr_storage storage_{};
};

/// How far a connection goes.
enum class Reach : std::uint8_t {
  local_socket,  ///< To a process of this host, in any case.
  this_host,     ///< By TCP, and no further than this host and network namespace.
  other_host,
};
/// Of a connection between these two ends: it stays here if the other one has a loopback address,
/// or ours.
Reach reach_of(const Address& ours, const Address& theirs);
/// Of a connected stream socket; `other_host` if it does not tell.
Reach reach_of(int socket);

/// Where a process is reached: by TCP, and from its own host by a local socket as well.
struct Addresses {
  Address tcp;
  std::optional<Address> local;

  /// "127.0.0.1:4711" or "127.0.0.1:4711,local:NAME". Errc::config.
  static Result<Addresses> parse(std::string_view text);
};

}  // namespace piracema::net
