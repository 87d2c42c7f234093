#include "smr/client/client_port.h"

#include <algorithm>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {
/// What a message may have beside its operation.
constexpr std::size_t message_room = std::size_t{64} << 10;
constexpr std::size_t largest_operation = std::size_t{16} << 20;
}  // namespace

ClientPort::ClientPort(FaultModel model, std::size_t operation_bytes_max, Host host)
    : model_(model), operation_bytes_max_(operation_bytes_max), host_(std::move(host)) {}

ClientPort::~ClientPort() {
  for (Guest* guest : guests_) guest->link->close();
}

void ClientPort::take(std::shared_ptr<MessageLink> link) {
  auto& account = accounts_[link->peer().id];
  if (!account) account = std::make_unique<Account>();
  if (links_.size() >= links_max || account->guests.size() >= links_of_client_max) {
    warnings_.log(Level::warning,
                  concat("refused ", to_text(link->peer()), ": it has ", account->guests.size(),
                         " connections, all clients have ", links_.size()));
    if (account->guests.empty()) accounts_.erase(link->peer().id);
    return link->close();
  }
  auto guest = std::make_unique<Guest>();
  guest->link = link;
  guest->account = account.get();
  account->guests.push_back(guest.get());
  // What is too large is refused in words as long as anybody could have taken it for an operation.
  link->limit_messages(largest_operation + message_room);
  if (account->paused) link->pause(true);
  link->send(standing_kind, wire::encode(standing_));
  for (const Buffer& view : host_.signed_views()) link->send(new_view_kind, view);
  guests_.push_back(guest.get());
  links_.emplace(link.get(), std::move(guest));
}

ClientPort::Guest* ClientPort::guest_of(const MessageLink& link) {
  const auto found = links_.find(&link);
  return found == links_.end() ? nullptr : found->second.get();
}

void ClientPort::received(MessageLink& link, std::uint8_t kind, Bytes message) {
  Guest* const guest = guest_of(link);
  if (guest == nullptr) return;
  if (kind == submit_kind) return submit(*guest, message);
  if (kind == read_kind || kind == hold_kind) return read(*guest, message, kind == hold_kind);
  if (kind == status_kind && message.empty() && host_.status) {
    guest->link->send(status_reply_kind, host_.status());
    return;
  }
  refuse(*guest, "a message that no client sends");
}

void ClientPort::set_standing(const Standing& standing) {
  if (standing.view == standing_.view && standing.regency == standing_.regency &&
      standing.leader == standing_.leader) {
    return;
  }
  standing_ = standing;
  const Buffer message = wire::encode(standing_);
  for (Guest* guest : guests_) guest->link->send(standing_kind, message);
}

void ClientPort::tell_view(Bytes signed_view) {
  for (Guest* guest : guests_) guest->link->send(new_view_kind, signed_view);
}

void ClientPort::tick(Time time) {
  for (const auto& [client, account] : accounts_) {
    if (!account->paused) continue;
    if (!account->waits_since) account->waits_since = time;
    if (time - *account->waits_since < patience) continue;
    account->unanswered = account->unanswered_bytes = 0;
    for (Guest* guest : account->guests) guest->unanswered = guest->unanswered_bytes = 0;
    pause(*account, false);
  }
  hang_up_on_hoarders();
}

void ClientPort::pause(Account& account, bool paused) {
  account.paused = paused;
  account.waits_since.reset();
  for (Guest* guest : account.guests) guest->link->pause(paused);
}

// Whoever sends halves of messages over many links, or reads no replies. One link a time: with it
// gone the others may be right.
void ClientPort::hang_up_on_hoarders() {
  bytes_ = 0;
  std::vector<Guest*> largest;
  for (const auto& [client, account] : accounts_) {
    std::size_t kept = 0;
    Guest* most = nullptr;
    for (Guest* guest : account->guests) {
      const std::size_t bytes = guest->link->kept_bytes();
      kept += bytes;
      if (most == nullptr || bytes > most->link->kept_bytes()) most = guest;
    }
    bytes_ += kept + account->unanswered_bytes;
    if (kept > kept_bytes_max) largest.push_back(most);
  }
  for (Guest* guest : largest) {
    refuse(*guest,
           "its connections keep more than 96 MiB of halves of messages, or of replies that "
           "it does not read");
  }
}

void ClientPort::refuse(Guest& guest, const char* why) {
  const auto link = guest.link;
  warnings_.log(Level::warning,
                concat("hung up on ", to_text(link->peer()), ": ", std::string_view(why)));
  link->close();
  forget(link.get());
}

void ClientPort::dismiss(ClientId client) {
  std::vector<Guest*> gone;
  for (Guest* guest : guests_) {
    if (guest->link->peer().id == client) gone.push_back(guest);
  }
  for (Guest* guest : gone) refuse(*guest, "it is no client any more, or has another key");
}

void ClientPort::lost(const MessageLink& link) { forget(&link); }

void ClientPort::forget(const MessageLink* link) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  Guest* const guest = found->second.get();
  std::erase_if(sessions_, [&](const auto& each) { return each.second.guest == guest; });
  std::erase_if(openings_, [&](const auto& each) { return each.second == guest; });
  Account& account = *guest->account;
  std::erase_if(reads_, [&](const auto& each) {
    if (each.second.guest != guest) return false;
    account.held -= each.second.is_held ? 1 : 0;
    return true;
  });
  std::erase(account.guests, guest);
  std::erase(guests_, guest);
  account.sessions -= guest->sessions;
  account.unanswered -= guest->unanswered;
  account.unanswered_bytes -= guest->unanswered_bytes;
  if (account.guests.empty()) {
    accounts_.erase(guest->link->peer().id);
  } else if (account.paused && has_room(account)) {
    pause(account, false);
  }
  links_.erase(found);
}

}  // namespace piracema::smr
