#pragma once

#include <piracema/error.h>

#include <memory>
#include <variant>

#include "smr/order/messages/leader_messages.h"
#include "smr/order/messages/ordering_messages.h"
#include "smr/order/messages/state_messages.h"

/// What replicas say to each other; docs/design/006. Receivers trust nothing in them but who sent
/// them: links authenticate that.
namespace piracema::smr {

using Message =
    std::variant<Propose, Write, Accept, Forward, Heartbeat, Milestone, Stop, StopData, Sync,
                 FetchBatch, FetchedBatch, Behind, Decided, ConfirmLeader, LeaderConfirmed,
                 CheckpointVote, StateRequest, StateOffer, ManifestRequest, Manifest, ChunkRequest,
                 Chunk, LogRequest, LogSuffix, ViewVote, SignedView, TrailRequest, Trail, Gone>;
/// Shared by all receivers of a broadcast; nobody changes it.
using MessagePtr = std::shared_ptr<const Message>;

template <class M>
MessagePtr message(M m) {
  return std::make_shared<const Message>(std::in_place_type<M>, std::move(m));
}

const char* name_of(const Message& message);

/// On the wire a message is `head` and then `body`. The body is shared with who made it: a batch
/// is encoded once, whoever gets it. Null if there is none.
struct EncodedMessage {
  Buffer head;
  std::shared_ptr<const Buffer> body;
};
EncodedMessage encode(const Message& message);

/// Errc::corrupt for what no correct replica of this version sends. Allocates no more than a small
/// multiple of `in`.
Result<MessagePtr> decode_message(Bytes in);

}  // namespace piracema::smr
