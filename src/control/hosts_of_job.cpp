#include "control/hosts_of_job.h"

#include <algorithm>

namespace piracema::cluster {

bool HostsOfJob::may_become(const HostsOfJob& later) const {
  if (later.hosts.size() < hosts.size() || later.hosts.size() > hosts_max) return false;
  const bool stay = std::equal(hosts.begin(), hosts.end(), later.hosts.begin(),
                               [](const HostOfJob& now, const HostOfJob& then) {
                                 return now.name == then.name && now.address == then.address;
                               });
  return stay && std::all_of(later.home_of_slot.begin(), later.home_of_slot.end(),
                             [&](std::uint32_t host) { return host < later.hosts.size(); });
}

}  // namespace piracema::cluster
