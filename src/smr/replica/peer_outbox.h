#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "smr/link/peer_links.h"
#include "smr/order/messages/events.h"
#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// What a replica says to the others and to itself, encoded once for all who get it. What promises
/// something waits here until the log has the promise. Belongs to the poller's thread.
class PeerOutbox {
 public:
  /// What is said to `to` in place of a message; null for nothing.
  using Distort = std::function<MessagePtr(ReplicaId to, const MessagePtr&)>;

  /// `links`, and `own`, which gets what the replica says to itself, outlive it.
  PeerOutbox(ReplicaId me, PeerLinks& links, std::vector<Event>& own, Distort distort)
      : me_(me), links_(links), own_(own), distort_(std::move(distort)) {}

  void send(ReplicaId to, const MessagePtr& message);
  /// As `send`, when so many records are durable.
  void send_after(std::uint64_t records, ReplicaId to, MessagePtr message) {
    held_.push_back({records, to, std::move(message)});
  }
  /// So many are.
  void release(std::uint64_t records);

 private:
  struct Held {
    std::uint64_t after = 0;
    ReplicaId to = 0;
    MessagePtr message;
  };

  const ReplicaId me_;
  PeerLinks& links_;
  std::vector<Event>& own_;
  const Distort distort_;
  /// By `after`.
  std::deque<Held> held_;
  /// The last message that was encoded: it goes to several.
  MessagePtr encoded_of_;
  EncodedMessage encoded_;
};

}  // namespace piracema::smr
