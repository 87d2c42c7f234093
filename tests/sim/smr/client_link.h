#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "smr/ids.h"
#include "smr/link/message_link.h"

namespace piracema::smr_sim {

class World;

/// A message on its way from a client to a replica, or back.
struct LinkMessage {
  std::uint8_t kind = 0;
  std::shared_ptr<const Buffer> bytes;
};

/// A connection of a client to a replica, as the replica holds it. Each side learns of its end by
/// itself, and some time after it.
class ClientLink final : public smr::MessageLink, public std::enable_shared_from_this<ClientLink> {
 public:
  ClientLink(World& world, std::uint32_t client, smr::ReplicaId replica);

  std::uint32_t client() const { return client_; }
  smr::ReplicaId replica() const { return replica_; }

  // ---- for the replica's port -----------------------------------------------------------------

  const smr::PeerName& peer() const override { return peer_; }
  bool send(std::uint8_t kind, Bytes first, Bytes second = {}) override;
  void pause(bool paused) override;
  void limit_messages(std::size_t) override {}
  std::size_t kept_bytes() const override { return 0; }
  void close() override;

  // ---- for the world --------------------------------------------------------------------------

  /// The replica has not hung up, and its process is the same.
  bool is_at_replica() const { return at_replica_; }
  /// The replica learns that it is lost.
  void lost_at_replica() { at_replica_ = false; }
  /// Both sides learn of it.
  void cut();
  /// Something for the replica has arrived; it is kept while the replica reads nothing.
  void arrived(LinkMessage message);
  /// A view does not overtake an earlier one.
  Time after_views(Time at) { return last_view_ = std::max(last_view_, at); }

 private:
  World& world_;
  const std::uint32_t client_;
  const smr::ReplicaId replica_;
  const smr::PeerName peer_;
  bool at_replica_ = true, paused_ = false;
  std::deque<LinkMessage> kept_;
  Time last_view_{};
};

}  // namespace piracema::smr_sim
