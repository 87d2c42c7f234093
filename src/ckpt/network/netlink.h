#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "base/fd.h"

/// The few requests of rtnetlink(7) that a capsule's network needs. They act on the network
/// namespace of the calling thread, and want CAP_NET_ADMIN in it. Every error is Errc::io and
/// names the link.
namespace piracema::ckpt {

class NetlinkMessage;

/// A connection to the kernel's side of the network namespace in which it was opened.
class Netlink {
 public:
  static Result<Netlink> open();

  /// Two ends of one cable.
  Result<Done> add_veth(const std::string& name, const std::string& peer);
  /// `address` is IPv4, in the order of its text: 10.77.0.1 is {10, 77, 0, 1}.
  Result<Done> add_address(const std::string& name, std::uint32_t address, unsigned prefix_bits);
  Result<Done> set_up(const std::string& name, bool up);
  /// The largest packet, in bytes.
  Result<Done> set_mtu(const std::string& name, std::uint32_t mtu);

 private:
  explicit Netlink(Fd socket) : socket_(std::move(socket)) {}
  Result<Done> ask(NetlinkMessage& request, const std::string& what);

  Fd socket_;
  std::uint32_t count_ = 0;
};

/// "10.77.0.1" as a number whose highest byte is the first; Errc::config for anything else.
Result<std::uint32_t> parse_ipv4(const std::string& text);

}  // namespace piracema::ckpt
