#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace piracema::cluster {

/// A machine that processes of a job run on.
struct HostOptions {
  /// As the remote shell knows it.
  std::string name;
  /// Numeric: where the other hosts reach it.
  std::string address;
  /// It is this one.
  bool here = false;
  /// Where the user has named it: "groups.json:3:17", "--hosts"; empty: nowhere.
  std::string named_at;
};

/// "host h1"; "this host" where the user has named none.
std::string described(const HostOptions& host);

/// A host as a user names it, and where: NAME, or NAME=ADDRESS, which is this machine if
/// $PIRACEMA_NODE says so.
struct HostName {
  std::string name;
  std::string named_at;
  /// Whether it is this machine, where somebody knows; else its address tells.
  std::optional<bool> here = std::nullopt;
};

/// Finds the addresses of all, and which of them are this machine; equal names are one host.
/// `numbers` gets the place of each in the answer. Those that are this machine get an address that
/// the others reach, if there are others, and else loopback's. Takes seconds where a name server
/// does not answer. Errc::config, beginning with `named_at`, for one that is not known.
Result<std::vector<HostOptions>> find_hosts(const std::vector<HostName>& names,
                                            std::vector<std::size_t>& numbers);

/// The same of one whose numeric address is known from before.
HostOptions host_known_as(const std::string& name, const std::string& address);

/// "10.0.0.1:4711", "[::1]:4711".
std::string with_port(const std::string& address, std::uint16_t port);

/// An address of this machine that other hosts may know: $PIRACEMA_ADDRESS, else the first that is
/// not loopback's. Errc::config without one.
Result<std::string> own_address();

/// The address of this machine that packets to `address`, which is numeric, come from. Errc::io
/// without a way there.
Result<std::string> address_facing(const std::string& address);

}  // namespace piracema::cluster
