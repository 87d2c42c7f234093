#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "smr/order/messages/messages.h"
#include "smr/request.h"
#include "smr/view.h"

/// What a replica's core is told.
namespace piracema::smr {

/// From a replica over an authenticated link; also from itself, once it was durable.
struct Received {
  ReplicaId from = 0;
  MessagePtr message;
};
/// From a client itself, not through the leader. Its proof was checked.
struct Submitted {
  Request request;
};
/// A read that is not ordered; `token` comes back in ReadNow (or in Refuse).
struct ReadAsked {
  std::uint64_t token = 0;
};
/// The service has executed everything up to here.
struct Executed {
  Instance instance = 0;
  /// When the service wants a tick next (StateMachine::next_deadline), as it is after this.
  std::optional<std::uint64_t> timer = {};
};
/// The answer to TakeCheckpoint.
struct CheckpointTaken {
  /// What the service knows; the rest is the core's.
  CheckpointInfo checkpoint;
  /// Digests of its pieces. They are kept, to be sent with SendChunk.
  std::vector<Digest> chunks;
};
/// The other answer: on no replica one is taken there.
struct CheckpointSkipped {
  Instance instance = 0;
};
/// The answer to LoadCheckpoint.
struct CheckpointLoaded {
  Instance instance = 0;
  /// Empty if it went well.
  std::string why;
};
/// The connection to a replica ended: a leader whose process died is replaced without waiting for
/// its silence. A hint; at most one for each connection that had been there.
struct LinkLost {
  ReplicaId to = 0;
};
/// Time has passed: `next_deadline` was reached.
struct Tick {};

using Event = std::variant<Received, Submitted, ReadAsked, Executed, CheckpointTaken,
                           CheckpointSkipped, CheckpointLoaded, LinkLost, Tick>;

}  // namespace piracema::smr
