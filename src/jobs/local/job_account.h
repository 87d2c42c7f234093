#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <optional>

#include "jobs/protocol/users.h"
#include "os/account.h"

namespace piracema::jobs {

/// As whom a job of that owner runs on a node whose process is `own`; nothing: as the node itself.
/// No job runs as root unless it is the first user's, or root is its account: whoever administers
/// the cluster has asked for it then. Errc::config says why the job cannot run there; Errc::io.
Result<std::optional<cluster::Account>> account_of(const Owner& owner, uid_t own);

}  // namespace piracema::jobs
