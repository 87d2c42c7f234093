#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/log_limit.h"
#include "smr/ids.h"
#include "smr/link/caller.h"
#include "smr/view.h"

namespace piracema::smr {

/// The links of a replica to the others: one for each pair, dialled by the higher number. Belongs
/// to the poller's thread.
class PeerLinks {
 public:
  struct Events {
    std::function<void(ReplicaId from, std::uint8_t kind, Bytes message)> received;
    /// The link stands, or has gone: a hint, as the peer may be alive.
    std::function<void(ReplicaId peer, bool up)> changed;
  };

  /// `self` outlives it.
  PeerLinks(net::Poller& poller, FlushList& flush_list, const Self& self, Events events,
            const Link::Limits& limits);
  ~PeerLinks();

  /// Links to others than these end; Errc::config for an address or key that is none. One without
  /// an address dials, or is not reached.
  Result<Done> use_members(const std::vector<MemberInfo>& members);

  /// Takes over a link that came in by the door, in place of one that stood. False if that replica
  /// is to be dialled by us, or is no member.
  bool take(std::shared_ptr<Link> link);
  /// That link has gone.
  void lost(const Link& link, const Error& why);
  void received(const Link& link, std::uint8_t kind, Bytes message);

  /// Drops it if there is no link, or too much waits in it.
  void send(ReplicaId to, std::uint8_t kind, Bytes first, Bytes second = {});
  bool is_up(ReplicaId peer) const;

 private:
  Link* link_to(ReplicaId peer) const;
  std::unique_ptr<Caller> caller_for(const MemberInfo& member, const PublicKey& key,
                                     const net::HostPort& address);

  net::Poller& poller_;
  FlushList& flush_list_;
  const Self& self_;
  const Events events_;
  const Link::Limits limits_;
  struct Peer {
    MemberInfo info;
    std::unique_ptr<Caller> caller;
    std::shared_ptr<Link> accepted;
  };
  std::map<ReplicaId, Peer> peers_;
  LogLimit losses_;
};

}  // namespace piracema::smr
