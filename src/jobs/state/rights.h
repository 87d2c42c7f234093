#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "jobs/protocol/job.h"
#include "jobs/protocol/operations.h"
#include "jobs/protocol/users.h"

namespace piracema::jobs {

/// Whom the group's clients are known to be, and whose the jobs are.
struct Known {
  const Users& users;
  const std::map<std::string, Node>& nodes;
  const std::map<JobId, Job>& jobs;
};

/// Why that client of the group may not say this; nothing if it may. A user says what its role is
/// for, of its own jobs unless it administers the cluster. A node says what is true of itself: its
/// name is that with which its key has joined first (Node::client). All may ask questions. Pure.
std::optional<std::string> refusal(std::uint64_t client, const Operation& operation,
                                   const Known& known);

}  // namespace piracema::jobs
