#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace piracema::coll {

/// An IPv4 address of a host as its interfaces say, in the machine's byte order. 0: none.
struct HostAddress {
  std::uint32_t address = 0, mask = 0;
};
constexpr std::size_t host_addresses_max = 16;

/// The address by which other hosts reach this one: that from which the kernel would send to most
/// of them. An address that several hosts have is none (bridges of docker and libvirt are the same
/// everywhere). Of equals one that has others in its own network, then the first. Pure: `route`
/// says from which address a packet to another one would go, 0 for none. nullopt without one that
/// routes to anybody.
using Route = std::function<std::uint32_t(std::uint32_t to)>;
std::optional<std::uint32_t> choose_address(const std::vector<HostAddress>& own,
                                            const std::vector<std::vector<HostAddress>>& others,
                                            const Route& route);

}  // namespace piracema::coll
