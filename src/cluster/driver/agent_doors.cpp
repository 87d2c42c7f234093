#include "cluster/driver/agent_doors.h"

#include "host/host_names.h"

namespace piracema::cluster {

Result<std::string> AgentDoors::facing(const std::string& host) {
  const auto own = address_facing(host);
  if (!own) return own.error();
  std::string& where = where_[*own];
  if (where.empty()) {
    auto listens = door_.listen(*own);
    if (!listens) return listens.error();
    where = *listens;
  }
  return where;
}

}  // namespace piracema::cluster
