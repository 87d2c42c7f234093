#include "smr/client/client_port.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "wire/fields.h"

namespace piracema::smr {

ClientPort::ClientPort(FaultModel model, std::size_t operation_bytes_max, Host host)
    : model_(model), operation_bytes_max_(operation_bytes_max), host_(std::move(host)) {}

ClientPort::~ClientPort() {
  for (const auto& [link, guest] : links_) guest->link->close();
}

void ClientPort::take(std::shared_ptr<Link> link) {
  std::size_t& of_client = links_of_client_[link->peer().id];
  if (links_.size() >= links_max || of_client >= links_of_client_max) {
    log(Level::warning, concat("refused ", to_text(link->peer()), ": it has ", of_client,
                               " connections, all clients have ", links_.size()));
    return link->close();
  }
  of_client += 1;
  auto guest = std::make_unique<Guest>();
  guest->link = link;
  link->send(standing_kind, wire::encode(standing_));
  for (const Buffer& view : host_.signed_views()) link->send(new_view_kind, view);
  links_.emplace(link.get(), std::move(guest));
}

ClientPort::Guest* ClientPort::guest_of(const Link& link) {
  const auto found = links_.find(&link);
  return found == links_.end() ? nullptr : found->second.get();
}

void ClientPort::received(Link& link, std::uint8_t kind, Bytes message) {
  Guest* const guest = guest_of(link);
  if (guest == nullptr) return;
  if (kind == submit_kind) return submit(*guest, message);
  if (kind == read_kind) return read(*guest, message);
  refuse(*guest, "a message that no client sends");
}

void ClientPort::set_standing(const Standing& standing) {
  if (standing.view == standing_.view && standing.regency == standing_.regency &&
      standing.leader == standing_.leader) {
    return;
  }
  standing_ = standing;
  const Buffer message = wire::encode(standing_);
  for (const auto& [link, guest] : links_) guest->link->send(standing_kind, message);
}

void ClientPort::tell_view(Bytes signed_view) {
  for (const auto& [link, guest] : links_) guest->link->send(new_view_kind, signed_view);
}

void ClientPort::tick(Time time) {
  for (const auto& [link, guest] : links_) {
    if (!guest->paused || time - guest->waits_since < patience) continue;
    guest->unanswered = 0;
    guest->unanswered_bytes = 0;
    guest->paused = false;
    guest->link->pause(false);
  }
}

void ClientPort::refuse(Guest& guest, const char* why) {
  const auto link = guest.link;
  log(Level::warning, concat("hung up on ", to_text(link->peer()), ": ", std::string_view(why)));
  link->close();
  forget(link.get());
}

void ClientPort::dismiss(ClientId client) {
  std::vector<Guest*> gone;
  for (const auto& [link, guest] : links_) {
    if (link->peer().id == client) gone.push_back(guest.get());
  }
  for (Guest* guest : gone) refuse(*guest, "it is no client any more, or has another key");
}

void ClientPort::lost(const Link& link) { forget(&link); }

void ClientPort::forget(const Link* link) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  const Guest* const guest = found->second.get();
  std::erase_if(sessions_, [&](const auto& each) { return each.second.guest == guest; });
  std::erase_if(openings_, [&](const auto& each) { return each.second == guest; });
  std::erase_if(reads_, [&](const auto& each) { return each.second.guest == guest; });
  const auto count = links_of_client_.find(guest->link->peer().id);
  if (--count->second == 0) links_of_client_.erase(count);
  links_.erase(found);
}

}  // namespace piracema::smr
