#pragma once

#include <piracema/error.h>

#include <map>
#include <string>

#include "cluster/driver/door.h"
#include "host/host_names.h"

namespace piracema::cluster {

/// Where agents of other hosts reach us: one listener for each of our addresses that faces a host,
/// and none where nobody needs it.
class AgentDoors {
 public:
  /// `door` outlives it, and listens. `one_for_all`: where it was opened, as all have been told of
  /// one of several coordinators.
  AgentDoors(Door& door, bool one_for_all) : door_(door), one_for_all_(one_for_all) {}

  /// ADDRESS:PORT for that host. Errc::io without a way there.
  Result<std::string> facing(const HostOptions& host);

 private:
  Door& door_;
  const bool one_for_all_;
  /// By our address.
  std::map<std::string, std::string> where_;
};

}  // namespace piracema::cluster
