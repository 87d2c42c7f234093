#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "smr/order/messages/log_record.h"
#include "smr/order/messages/messages.h"
#include "smr/request.h"
#include "smr/view.h"

/// What a replica's core wants done, in this order.
namespace piracema::smr {

/// Append to the log. Whatever is sent with `after_log` after this, in this step or a later one,
/// leaves only when the record is durable. The driver gathers records: one sync for many.
struct Persist {
  LogRecord record;
};
/// To a replica, itself included: then it comes back as Received. May be lost.
struct Send {
  ReplicaId to = 0;
  MessagePtr message;
  /// It promises what the log has to remember: a vote, a proposal, a change of leader.
  bool after_log = false;
};
/// Decided: hand the batch to the service; each instance once, in order, without a gap.
struct Execute {
  Instance instance = 0;
  BatchPtr batch;
};
/// Executed up to `instance` and not further: linearizable to read now.
struct ReadNow {
  std::uint64_t token = 0;
  Instance instance = 0;
};
/// The client has to ask somebody else, or later.
struct Refuse {
  std::uint64_t token = 0;
};
/// After `instance` a checkpoint is due. If it is worth one there, by what the service alone knows
/// (CheckpointSpacing), its state is taken without stopping it for long, and CheckpointTaken
/// follows; else CheckpointSkipped.
struct TakeCheckpoint {
  Instance instance = 0;
  /// Ordered since one was due before.
  std::uint64_t ordered = 0;
  /// Else it only counts, and nothing follows: others have a newer one.
  bool wanted = true;
};
/// Everybody can do without what is older: forget the log up to `instance`, and older checkpoints
/// but for the one at `kept`, if that is not 0: somebody fetches it.
struct Truncate {
  Instance instance = 0;
  Instance kept = 0;
};
/// Send this piece of a checkpoint that we keep, if it is still there.
struct SendChunk {
  ReplicaId to = 0;
  Instance instance = 0;
  std::uint32_t chunk = 0;
};
/// A piece of somebody's checkpoint whose digest is right. Kept through a crash.
struct StoreChunk {
  CheckpointInfo checkpoint;
  std::uint32_t chunk = 0;
  std::shared_ptr<const Buffer> bytes;
};
/// The service becomes this checkpoint, all pieces of which are there; CheckpointLoaded follows.
struct LoadCheckpoint {
  CheckpointInfo checkpoint;
};
/// Send what the service knows of its operations (Service::trail) to a replica, itself included.
struct TellTrail {
  ReplicaId to = 0;
  TrailRequest asked;
};
/// From now on these are the members; links to others end, once what was sent has left.
struct UseView {
  View view;
};
/// For people: "leader is 2 (regency 3)", "state of replica 1 differs at 400: …".
struct Note {
  bool warning = false;
  std::string text;
};
/// This replica cannot go on: its state differs, others decided something else. The process ends.
struct Halt {
  std::string why;
};

using Action = std::variant<Persist, Send, Execute, ReadNow, Refuse, TakeCheckpoint, Truncate,
                            SendChunk, StoreChunk, LoadCheckpoint, TellTrail, UseView, Note, Halt>;

}  // namespace piracema::smr
