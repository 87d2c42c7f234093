#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace piracema::cluster {

/// A host that the job uses, or has used: its number is its place in the list, and stays.
struct HostOfJob {
  /// As the remote shell knows it.
  std::string name;
  /// Numeric: where the other hosts reach it.
  std::string address;
  /// What runs there is to go elsewhere if it is not.
  bool wanted = true;
  auto fields() { return std::tie(name, address, wanted); }
  bool operator==(const HostOfJob&) const = default;
};

/// The hosts of a job that come and go while it runs, for the coordinator that takes the job over:
/// agents and slots are known by the numbers of hosts. None: they are those of the command line.
struct HostsOfJob {
  static constexpr std::size_t hosts_max = 65'536;

  std::vector<HostOfJob> hosts;
  /// Where the process of each slot belongs; those that come later are anywhere.
  std::vector<std::uint32_t> home_of_slot;
  auto fields() { return std::tie(hosts, home_of_slot); }
  bool operator==(const HostsOfJob&) const = default;

  /// `later` has each host of these at its place.
  bool may_become(const HostsOfJob& later) const;
};

}  // namespace piracema::cluster
