#include "smr/link/door.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"

namespace piracema::smr {

namespace {
/// Lines about strangers in a second; whoever floods the port must not flood the log.
constexpr std::uint64_t lines_a_second = 10;
}  // namespace

Result<std::unique_ptr<Door>> Door::open(net::Poller& poller, FlushList& flush_list,
                                         const Self& self, const std::string& address, Host host,
                                         const Link::Limits& limits) {
  const auto parsed = net::Address::parse(address);
  if (!parsed) return parsed.error();
  std::unique_ptr<Door> door(new Door(poller, flush_list, self, std::move(host), limits));
  auto listener = net::Listener::open(poller, parsed->host(), parsed->port(),
                                      [raw = door.get()](Fd socket, const net::Address& peer) {
                                        raw->accept(std::move(socket), peer);
                                      });
  if (!listener) return listener.error();
  door->listener_ = *std::move(listener);
  return door;
}

Door::Door(net::Poller& poller, FlushList& flush_list, const Self& self, Host host,
           const Link::Limits& limits)
    : poller_(poller),
      flush_list_(flush_list),
      self_(self),
      host_(std::move(host)),
      limits_(limits) {}

Door::~Door() {
  for (const Stranger& stranger : strangers_) stranger.link->close();
}

void Door::accept(Fd socket, const net::Address& peer) {
  if (strangers_.size() == strangers_max) {
    const Stranger oldest = std::move(strangers_.front());
    strangers_.pop_front();
    oldest.link->close();
    refuse(oldest.address, "others stand in line behind it");
  }
  Link::Events events;
  events.known = [this](Link& link) { host_.known(take(link).link); };
  events.received = host_.received;
  events.lost = [this](Link& link, const Error& why) {
    if (link.is_known()) return host_.lost(link, why);
    const Stranger stranger = take(link);
    refuse(stranger.address, why.message);
  };
  auto link = Link::open(poller_, flush_list_, std::move(socket), Handshake(self_, host_.key_of),
                         false, std::move(events), limits_);
  strangers_.push_back({std::move(link), peer.text()});
}

Door::Stranger Door::take(const Link& link) {
  const auto found =
      std::find_if(strangers_.begin(), strangers_.end(),
                   [&](const Stranger& stranger) { return stranger.link.get() == &link; });
  if (found == strangers_.end()) return {};
  Stranger stranger = std::move(*found);
  strangers_.erase(found);
  return stranger;
}

void Door::refuse(const std::string& address, const std::string& why) {
  const Time time = now();
  if (time - second_ >= std::chrono::seconds(1)) {
    if (refused_ > lines_a_second) {
      log(Level::warning, concat("refused ", refused_ - lines_a_second, " more connections"));
    }
    second_ = time;
    refused_ = 0;
  }
  refused_ += 1;
  if (refused_ > lines_a_second) return;
  log(Level::warning, concat("refused a connection from ", address, ": ", why));
}

}  // namespace piracema::smr
