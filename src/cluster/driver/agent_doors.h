#pragma once

#include <piracema/error.h>

#include <map>
#include <string>

#include "cluster/driver/door.h"

namespace piracema::cluster {

/// Where agents of other hosts reach us: one listener for each of our addresses that faces a host,
/// and none where nobody needs it.
class AgentDoors {
 public:
  /// `door` outlives it, and listens.
  explicit AgentDoors(Door& door) : door_(door) {}

  /// ADDRESS:PORT for a host with that address. Errc::io without a way there.
  Result<std::string> facing(const std::string& host);

 private:
  Door& door_;
  /// By our address.
  std::map<std::string, std::string> where_;
};

}  // namespace piracema::cluster
