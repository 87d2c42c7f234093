#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "base/ids.h"

namespace piracema::runtime {

/// What a replica that sends is told of where others are, and of how to send.
struct SendOptions {
  /// Identifiers of items to pass by.
  std::unordered_set<std::uint64_t> skips;
  /// Replicas of the same process: what goes to them need not travel.
  std::unordered_set<ReplicaId> neighbours;
  /// Items in a batch to a replica, whatever its edge has. An output whose batches may go to
  /// several of these has the least.
  std::unordered_map<ReplicaId, std::uint32_t> batches;
};

}  // namespace piracema::runtime
