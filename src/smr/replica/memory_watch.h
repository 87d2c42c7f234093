#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/log_limit.h"
#include "smr/replica/peer_lives.h"
#include "smr/view.h"

namespace piracema::smr {

/// What replicas tell each other of their memories (PeerLives), and what this one says to people
/// about it: who is heard no more, and why nothing is decided. Ticks tell the time. One thread.
class MemoryWatch {
 public:
  struct Host {
    std::function<void(ReplicaId to, std::uint8_t kind, Bytes message)> send;
    std::function<bool(ReplicaId peer)> is_up;
    /// What PeerLives::encode says, to be there when the replica starts again.
    std::function<void(Buffer lives)> write;
    /// Others remember this replica with another memory.
    std::function<void(Error)> failed;
  };

  /// `life` and `lost`: of this replica's own memory.
  MemoryWatch(ReplicaId me, std::uint64_t life, bool lost, Host host)
      : me_(me), life_(life), lost_(lost), host_(std::move(host)) {}

  /// What was written down before. Without it nobody is suspected of anything.
  Result<Done> restore(Bytes lives) { return lives_.restore(lives); }

  /// A link to it stands. `silent`: this replica has yet to regain what it had promised.
  void connected(ReplicaId peer, bool silent) const;
  /// True if that was a message of a memory.
  bool received(ReplicaId from, std::uint8_t kind, Bytes message, const View& view);
  /// Nothing that it says counts.
  bool is_forgetful(ReplicaId peer) const { return lives_.is_forgetful(peer); }
  /// Often.
  void tick(Time now, const View& view, bool silent);

 private:
  void heard_life(ReplicaId from, Bytes message);
  void heard_refusal(ReplicaId from, Bytes message, const View& view);

  const ReplicaId me_;
  const std::uint64_t life_;
  const bool lost_;
  const Host host_;
  PeerLives lives_;
  bool was_silent_ = false;
  Time said_at_{};
  LogLimit lines_;
};

}  // namespace piracema::smr
