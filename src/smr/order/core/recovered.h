#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "smr/order/messages/log_record.h"
#include "smr/order/transfer/partial_checkpoint.h"

namespace piracema::smr {

/// What a replica finds again when it starts.
struct Recovered {
  /// Of the configuration; what the checkpoint and the log say is newer.
  View view;
  /// The service has been restored from it.
  std::optional<CheckpointInfo> checkpoint;
  /// In the order in which they were written; those that the checkpoint covers may be missing.
  std::vector<LogRecord> log;
  /// The log was lost or does not hold all that was synced: the replica may have voted for what it
  /// no longer knows. It stays silent until it has caught up with all that it may have voted for.
  /// False for a replica that starts for the first time ever.
  bool amnesia = false;
  /// Never given to this replica before, such as a random one: answers to an earlier life of it
  /// are told apart.
  std::uint64_t nonce = 0;
  /// Digests of the checkpoint's pieces.
  std::vector<Digest> chunks;
  /// What was received of a checkpoint before the process ended.
  std::optional<PartialCheckpoint> partial;
  /// Who may be a member by now, besides the view's: of all members of that, nobody may be left to
  /// ask. They are asked for the state; what they say has to be signed from the view on.
  std::vector<ReplicaId> added = {};
};

}  // namespace piracema::smr
