#pragma once

#include <piracema/error.h>

#include <string>

#include "cluster/driver/driver.h"
#include "host/host_list.h"

namespace piracema::tools {

/// Has a job run by a file of groups (docs/formats/groups.md): one process for each, the replicas
/// where the program's groups want them. Asks the program, `job.command`, for its groups.
/// Errc::config for everything that is wrong with file or groups; nothing has begun then.
Result<Done> apply_groups(const std::string& file, cluster::JobOptions& job);

/// Has the workers of a job (`job.settings.slots`) run on these hosts. Errc::config for a host that
/// is not known, more workers than places, or a transport that does not reach from host to host.
Result<Done> apply_hosts(const cluster::HostList& list, cluster::JobOptions& job);

}  // namespace piracema::tools
