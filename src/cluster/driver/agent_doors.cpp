#include "cluster/driver/agent_doors.h"

namespace piracema::cluster {

Result<std::string> AgentDoors::facing(const HostOptions& host) {
  if (host.here || one_for_all_) return door_.address();
  const auto own = address_facing(host.address);
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
