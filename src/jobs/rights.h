#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "jobs/job.h"
#include "jobs/operations.h"

namespace piracema::jobs {

/// Why that client of the group may not say this; nothing if it may. The user asks for jobs and
/// says which nodes there are; a node says what is true of itself: its name is that with which its
/// key has joined first (Node::client). All may ask questions. Pure.
std::optional<std::string> refusal(std::uint64_t client, const Operation& operation,
                                   const std::map<std::string, Node>& nodes);

}  // namespace piracema::jobs
