#pragma once

#include <cstdint>

#include "base/engine.h"

namespace piracema {

/// Number of a replica in the plan: nodes in the order of the graph, replicas in order.
using ReplicaId = std::uint32_t;
/// Number of a process of the job, from 0.
using Slot = std::uint32_t;
/// Slots of a job at most.
constexpr Slot slots_max = 4096;
/// Raised by every recovery; fences everything that is older. From 1.
using Epoch = std::uint32_t;
/// Number of a snapshot, growing over the life of a job, resumed ones included. From 1.
using SnapshotId = std::uint64_t;

}  // namespace piracema
