#include "smr/link/peer_links.h"

#include "base/log.h"
#include "base/text.h"
#include "smr/link/client_wire.h"

namespace piracema::smr {

PeerLinks::PeerLinks(net::Poller& poller, FlushList& flush_list, const Self& self, Events events,
                     const Link::Limits& limits)
    : poller_(poller),
      flush_list_(flush_list),
      self_(self),
      events_(std::move(events)),
      limits_(limits) {}

PeerLinks::~PeerLinks() {
  for (auto& [id, peer] : peers_) {
    if (peer.accepted) peer.accepted->close();
  }
}

Result<Done> PeerLinks::use_members(const std::vector<MemberInfo>& members) {
  std::map<ReplicaId, Peer> next;
  for (const MemberInfo& member : members) {
    if (member.id == self_.name.id) continue;
    const auto key = parse_public_key(member.public_key);
    if (!key) return key.error();
    const bool dials_us = self_.name.id < member.id;
    if (member.address.empty() && !dials_us) continue;
    const auto address = net::HostPort::parse(member.address);
    if (!address && !dials_us) return address.error();
    Peer& peer = next[member.id];
    const auto old = peers_.find(member.id);
    const bool is_same = old != peers_.end() && old->second.info.public_key == member.public_key &&
                         (dials_us || old->second.info.address == member.address);
    if (is_same) peer = std::move(old->second);
    peer.info = member;
    if (!is_same && !dials_us) peer.caller = caller_for(member, *key, *address);
  }
  peers_.swap(next);
  for (auto& [id, peer] : next) {
    if (peer.accepted) peer.accepted->close();
  }
  return Done{};
}

std::unique_ptr<Caller> PeerLinks::caller_for(const MemberInfo& member, const PublicKey& key,
                                              const net::HostPort& address) {
  Link::Events events;
  events.known = [this, id = member.id](Link&) { events_.changed(id, true); };
  events.received = [this](Link& link, std::uint8_t kind, Bytes message) {
    received(link, kind, message);
  };
  events.lost = [this, id = member.id](Link&, const Error& why) {
    losses_.log(Level::info, concat("link to replica ", id, " lost: ", why.message));
    events_.changed(id, false);
  };
  return std::make_unique<Caller>(poller_, flush_list_, self_,
                                  Caller::Whom{{PeerName::Role::replica, member.id}, key, address},
                                  std::move(events), limits_);
}

bool PeerLinks::take(std::shared_ptr<Link> link) {
  const auto id = static_cast<ReplicaId>(link->peer().id);
  const auto found = peers_.find(id);
  if (found == peers_.end() || id <= self_.name.id) return false;
  // The peer has started anew, or gave the old link up before we noticed.
  if (found->second.accepted) found->second.accepted->close();
  found->second.accepted = std::move(link);
  events_.changed(id, true);
  return true;
}

void PeerLinks::lost(const Link& link, const Error& why) {
  const auto id = static_cast<ReplicaId>(link.peer().id);
  const auto found = peers_.find(id);
  if (found == peers_.end() || found->second.accepted.get() != &link) return;
  found->second.accepted.reset();
  losses_.log(Level::info, concat("link to replica ", id, " lost: ", why.message));
  events_.changed(id, false);
}

void PeerLinks::received(const Link& link, std::uint8_t kind, Bytes message) {
  events_.received(static_cast<ReplicaId>(link.peer().id), kind, message);
}

Link* PeerLinks::link_to(ReplicaId peer) const {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return nullptr;
  if (found->second.caller) return found->second.caller->link();
  return found->second.accepted.get();
}

void PeerLinks::send(ReplicaId to, std::uint8_t kind, Bytes first, Bytes second) {
  if (Link* link = link_to(to)) link->send(kind, first, second);
}

bool PeerLinks::is_up(ReplicaId peer) const { return link_to(peer) != nullptr; }

}  // namespace piracema::smr
