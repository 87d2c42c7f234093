#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/host_names.h"

namespace piracema::council {

/// Where the coordinators of a job are.
struct HostChoice {
  /// Numeric address of this machine, where the others reach the first one.
  std::string here;
  /// The hosts of the others, in their order; none: all are on this machine.
  std::vector<cluster::HostOptions> elsewhere;
};

/// The job is on this host alone: it names no other.
bool are_all_here(const std::vector<cluster::HostOptions>& hosts);

/// The first coordinator is this process, wherever that is. The others are each on a machine of its
/// own, the first ones of `hosts` that are not this one. Errc::config where there are too few, or a
/// name that is another machine on each.
Result<HostChoice> choose_hosts(const std::vector<cluster::HostOptions>& hosts,
                                std::uint32_t count);

/// Where another coordinator may take the seat of a lost one: machines of the job that have none,
/// as `taken` says by numeric addresses, each once and in their order; that of the lost one comes
/// last. None where the job is on this host alone.
std::vector<cluster::HostOptions> hosts_for_another(const std::vector<cluster::HostOptions>& hosts,
                                                    std::vector<std::string> taken,
                                                    const std::string& lost);

/// Numeric address at which the other hosts of a job reach this machine; if it has no others now,
/// at which those that come will. Errc::config without a way there.
Result<std::string> own_address_in(const std::vector<cluster::HostOptions>& hosts);

}  // namespace piracema::council
