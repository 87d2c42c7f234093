#include "smr/link/door.h"

#include <netinet/in.h>

#include <cstring>

#include "base/text.h"
#include "net/socket/host_port.h"

namespace piracema::smr {

namespace {
// Whoever has one IPv6 address mostly has all of its network.
std::string source_of(const net::Address& peer) {
  if (peer.family() != AF_INET6) return peer.host();
  sockaddr_in6 v6{};
  std::memcpy(&v6, peer.data(), sizeof v6);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return peer.host();
  std::memset(&v6.sin6_addr.s6_addr[8], 0, 8);
  sockaddr_storage network{};
  std::memcpy(&network, &v6, sizeof v6);
  return net::Address(network).host() + "/64";
}
}  // namespace

Result<std::unique_ptr<Door>> Door::open(net::Poller& poller, FlushList& flush_list,
                                         ReadTurns& turns, const Self& self,
                                         const std::string& address, Host host,
                                         const Link::Limits& limits) {
  const auto place = net::HostPort::parse(address);
  if (!place) return place.error();
  const auto found = place->look_up();
  if (!found) return found.error();
  const net::Address parsed = found->front();
  std::unique_ptr<Door> door(new Door(poller, flush_list, turns, self, std::move(host), limits));
  auto listener = net::Listener::open(poller, parsed.host(), parsed.port(),
                                      [raw = door.get()](Fd socket, const net::Address& peer) {
                                        raw->accept(std::move(socket), peer);
                                      });
  if (!listener) return listener.error();
  door->listener_ = *std::move(listener);
  return door;
}

Door::Door(net::Poller& poller, FlushList& flush_list, ReadTurns& turns, const Self& self,
           Host host, const Link::Limits& limits)
    : poller_(poller),
      flush_list_(flush_list),
      turns_(turns),
      self_(self),
      host_(std::move(host)),
      limits_(limits) {}

Door::~Door() {
  for (const auto& [number, stranger] : strangers_) stranger.link->close();
}

void Door::accept(Fd socket, const net::Address& peer) {
  const StrangerPlaces::Number number = ++count_;
  Stranger stranger;
  stranger.address = peer.text();
  stranger.source = source_of(peer);
  stranger.is_member = member_hosts_.contains(peer.host()) ||
                       (host_.is_member_address && host_.is_member_address(peer.host()));
  if (const auto goes = places_.enter(number, stranger.source, stranger.is_member)) {
    const Stranger oldest = take(*goes);
    oldest.link->close();
    refuse(oldest.address, "others stand in line behind it");
  }
  Link::Events events;
  events.known = [this, number, host = peer.host()](Link& link) {
    if (link.peer().role == PeerName::Role::replica) member_hosts_.insert(host);
    // Whoever takes it over may want it to have other turns.
    link.read_in_turn(nullptr, "");
    host_.known(take(number).link);
  };
  events.received = host_.received;
  events.lost = [this, number](Link& link, const Error& why) {
    if (link.is_known()) return host_.lost(link, why);
    const Stranger lost = take(number);
    if (why.code != Errc::not_found) refuse(lost.address, why.message);
  };
  stranger.link =
      Link::open(poller_, flush_list_, std::move(socket),
                 Handshake(self_, host_.key_of, host_.leader), false, std::move(events), limits_);
  stranger.link->read_in_turn(&turns_, stranger.source);
  strangers_.emplace(number, std::move(stranger));
}

Door::Stranger Door::take(StrangerPlaces::Number number) {
  const auto found = strangers_.find(number);
  if (found == strangers_.end()) return {};
  Stranger stranger = std::move(found->second);
  strangers_.erase(found);
  places_.leave(number, stranger.source, stranger.is_member);
  return stranger;
}

void Door::refuse(const std::string& address, const std::string& why) {
  refusals_.log(Level::warning, concat("refused a connection from ", address, ": ", why));
}

}  // namespace piracema::smr
