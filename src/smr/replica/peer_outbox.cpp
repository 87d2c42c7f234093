#include "smr/replica/peer_outbox.h"

#include "smr/link/client_wire.h"

namespace piracema::smr {

void PeerOutbox::send(ReplicaId to, const MessagePtr& message) {
  if (to == me_) {
    own_.push_back(Received{to, message});
    return;
  }
  const MessagePtr said = distort_ ? distort_(to, message) : message;
  if (!said) return;
  if (encoded_of_ != said) {
    encoded_ = encode(*said);
    encoded_of_ = said;
  }
  links_.send(to, replica_message_kind, encoded_.head,
              encoded_.body ? Bytes(*encoded_.body) : Bytes());
}

void PeerOutbox::release(std::uint64_t records) {
  while (!held_.empty() && held_.front().after <= records) {
    const Held held = std::move(held_.front());
    held_.pop_front();
    send(held.to, held.message);
  }
}

}  // namespace piracema::smr
