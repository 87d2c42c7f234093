#pragma once

#include <piracema/smr/figures.h>

#include <functional>
#include <string>

#include "smr/client/client_port.h"
#include "smr/link/client_wire.h"
#include "smr/link/peer_links.h"
#include "smr/order/core/core.h"
#include "smr/replica/known_peers.h"
#include "smr/replica/work_count.h"

namespace piracema::smr {

/// What a replica tells of itself: to clients that ask for its status, and to its own process as
/// figures. Belongs to the replica's thread.
class SelfReport {
 public:
  struct Settings {
    ReplicaId me = 0;
    /// Where the configuration says that it is.
    std::string address;
    /// Called each second; null: nobody looks on.
    std::function<void(const ReplicaFigures&)> figures;
  };
  /// All but the settings outlive it.
  SelfReport(Settings settings, const Core& core, const KnownPeers& known, const PeerLinks& peers,
             const ClientPort& clients)
      : settings_(std::move(settings)),
        core_(core),
        known_(known),
        peers_(peers),
        clients_(clients) {}

  StatusTold status() const;
  /// Tells figures, if it is time.
  void tick(Time now);
  /// What it does; to be told of.
  WorkCount& work() { return work_; }

 private:
  const Settings settings_;
  const Core& core_;
  const KnownPeers& known_;
  const PeerLinks& peers_;
  const ClientPort& clients_;
  WorkCount work_;
  Time told_at_{};
};

}  // namespace piracema::smr
