#pragma once

#include <piracema/error.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace piracema::net {

/// An IPv4 or IPv6 address and a TCP port. Host names are not looked up: that may take seconds.
class Address {
 public:
  Address() = default;

  /// "127.0.0.1:4711" or "[::1]:4711". Errc::config says what was found instead.
  static Result<Address> parse(std::string_view text);
  static Result<Address> make(const std::string& host, std::uint16_t port);

  /// From what the system filled in.
  explicit Address(const sockaddr_storage& from) : storage_(from) {}

  std::string host() const;
  std::uint16_t port() const;
  /// As `parse` reads it.
  std::string text() const;

  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const;
  int family() const { return storage_.ss_family; }

 private:
  sockaddr_storage storage_{};
};

}  // namespace piracema::net
