#pragma once

#include <piracema/error.h>

#include <chrono>

#include "jobs/protocol/operations.h"
#include "tools/cluster/client.h"

namespace piracema::tools {

/// It runs on as many nodes as it is to have.
bool has_all_nodes(const jobs::Job& job);

/// Has a stream run on so many nodes, and waits until it was given them, or some seconds longer
/// than `within`; as it is then. Errc::refused; Errc::lost if it has ended, or somebody has given
/// it another number; Errc::timeout if nobody answers.
Result<jobs::Job> resize(ClusterClient& client, jobs::JobId id, std::uint32_t nodes,
                         std::chrono::milliseconds within);

}  // namespace piracema::tools
