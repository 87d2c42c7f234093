#pragma once

#include <piracema/bytes.h>

#include "smr/order/messages/leader_messages.h"
#include "smr/order/messages/ordering_messages.h"
#include "smr/order/messages/state_messages.h"

/// What is signed in messages.
namespace piracema::smr {

/// The statement of each kind, with a word in front that no other kind has: nobody's signature
/// under one can be passed off as one under another.
Buffer signed_bytes(const Collect& collect);
Buffer signed_bytes(const Milestone& milestone);
Buffer signed_bytes(const CheckpointVote& vote);
Buffer signed_bytes(const View& view);
/// What a CheckpointVote votes on.
Digest digest_of(const CheckpointInfo& checkpoint);

}  // namespace piracema::smr
