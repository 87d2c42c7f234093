#pragma once

#include <optional>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// Pieces of a checkpoint that was being received.
struct PartialCheckpoint {
  CheckpointInfo checkpoint;
  /// Of each piece that is there.
  std::vector<std::optional<Digest>> chunks;
};

}  // namespace piracema::smr
