#include "smr/client/client_port.h"

#include <algorithm>

#include "base/text.h"
#include "smr/order/messages/batch.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {
/// What a message may have beside its operation.
constexpr std::size_t message_room = std::size_t{64} << 10;
constexpr std::size_t largest_operation = std::size_t{16} << 20;
/// As what it counts against a client's share.
constexpr std::size_t message_cost = 100;
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

// ---- what clients ask for, and the replies to it

void ClientPort::submit(Guest& guest, Bytes message) {
  auto request = decode_request(message);
  if (!request) return refuse(guest, "a request that is none");
  // Nobody asks in another's name, and the administrator asks for nothing else.
  if (request->client != guest.link->peer().id ||
      is_for_administrators(request->kind) != (request->client == 0)) {
    return refuse(guest, "a request that is not its own to make");
  }
  if (request->operation.size() > operation_bytes_max_) {
    return send(guest, {request->client, request->session, request->sequence, ReplyStatus::refused,
                        std::make_shared<const Buffer>(as_bytes(
                            concat("an operation of ", request->operation.size(),
                                   " bytes, at most ", operation_bytes_max_, " are taken")))});
  }
  switch (note(guest, *request)) {
    case Noted::fresh:
      return host_.submit(*std::move(request));
    case Noted::again:
      return host_.submit_again(*std::move(request));
    case Noted::too_many:
      return refuse(guest, "requests of too many sessions");
  }
}

// Remembers who wants the reply.
ClientPort::Noted ClientPort::note(Guest& guest, const Request& request) {
  const std::size_t bytes = message_cost + request.operation.size();
  if (!has_session(request.kind)) {
    if (openings_.emplace(Opening{request.client, request.sequence}, &guest).second) {
      asked(guest, bytes);
    }
    return Noted::again;
  }
  Session& session = sessions_[{request.client, request.session}];
  if (session.guest != &guest) {
    // It is new, or comes over another connection now.
    if (session.guest != nullptr) {
      session.guest->sessions -= 1;
      session.guest->account->sessions -= 1;
    }
    session.guest = &guest;
    guest.sessions += 1;
    guest.account->sessions += 1;
    session.asked.assign(window, {});
    session.executed = std::max(session.executed, request.sequence + window);
  }
  Asked& slot = session.asked[request.sequence % window];
  if (slot.sequence == request.sequence) return Noted::again;
  if (slot.sequence != 0) answered(guest, slot.bytes);
  slot = {request.sequence, static_cast<std::uint32_t>(bytes)};
  asked(guest, bytes);
  if (guest.sessions > sessions_of_link_max || guest.account->sessions > sessions_of_client_max) {
    return Noted::too_many;
  }
  return request.sequence <= session.executed ? Noted::again : Noted::fresh;
}

void ClientPort::read(Guest& guest, Bytes message, bool hold) {
  const auto read = decode_read(message);
  if (!read || read->rest.size() > operation_bytes_max_) {
    return refuse(guest, "a read that is none");
  }
  const std::uint64_t token = ++read_count_;
  const std::size_t bytes = message_cost + read->rest.size();
  if (hold && host_.hold && guest.account->held < held_max) {
    // It keeps nobody from asking for other things.
    guest.account->held += 1;
    reads_[token] = {&guest, read->head.token, 0, true};
    return host_.hold(token, Buffer(read->rest));
  }
  reads_[token] = {&guest, read->head.token, bytes};
  asked(guest, bytes);
  host_.read(token, Buffer(read->rest));
}

void ClientPort::asked(Guest& guest, std::size_t bytes) {
  Account& account = *guest.account;
  guest.unanswered += 1;
  guest.unanswered_bytes += bytes;
  account.unanswered += 1;
  account.unanswered_bytes += bytes;
  if (account.paused ||
      (account.unanswered <= unanswered_max && account.unanswered_bytes <= unanswered_bytes_max)) {
    return;
  }
  pause(account, true);
}

void ClientPort::answered(Guest& guest, std::size_t bytes) {
  Account& account = *guest.account;
  const std::size_t one = std::min<std::size_t>(guest.unanswered, 1);
  bytes = std::min(guest.unanswered_bytes, bytes);
  guest.unanswered -= one;
  guest.unanswered_bytes -= bytes;
  account.unanswered -= one;
  account.unanswered_bytes -= bytes;
  if (!account.paused) return;
  account.waits_since.reset();
  if (has_room(account)) pause(account, false);
}

void ClientPort::reply(const Reply& reply) {
  if (const auto opening = openings_.find({reply.client, reply.sequence});
      opening != openings_.end() && reply.session == 0) {
    Guest& guest = *opening->second;
    openings_.erase(opening);
    answered(guest, message_cost);
    return send(guest, reply);
  }
  if (sessions_.size() > sessions_max) forget_silent_sessions();
  Session& session = sessions_[{reply.client, reply.session}];
  session.executed = std::max(session.executed, reply.sequence);
  if (session.guest == nullptr) return;  // It asks when it comes.
  Guest& guest = *session.guest;
  Asked& slot = session.asked[reply.sequence % window];
  const bool was_asked = slot.sequence == reply.sequence;
  if (was_asked) {
    answered(guest, slot.bytes);
    slot = {};
  }
  // With crashes one reply is enough, and whoever was asked gives it. Among liars each replica's
  // counts, also if the client's own words to this one are still on their way.
  if (was_asked || model_ == FaultModel::byzantine) send(guest, reply);
}

void ClientPort::forget_silent_sessions() {
  std::erase_if(sessions_, [](const auto& each) { return each.second.guest == nullptr; });
}

void ClientPort::send(Guest& guest, const Reply& reply) {
  std::byte head[reply_head_bytes];
  for (std::size_t i = 0; i < 8; ++i) {
    head[i] = static_cast<std::byte>(reply.session >> (8 * i));
    head[8 + i] = static_cast<std::byte>(reply.sequence >> (8 * i));
  }
  head[16] = static_cast<std::byte>(reply.status);
  guest.link->send(reply_kind, head, reply.result ? Bytes(*reply.result) : Bytes());
}

void ClientPort::read_reply(std::uint64_t token, bool known, Bytes result) {
  const auto found = reads_.find(token);
  if (found == reads_.end()) return;  // The client has gone.
  const Read read = found->second;
  reads_.erase(found);
  read.guest->link->send(read_reply_kind, wire::encode(ReadReplyHead{read.token, known}), result);
  if (read.is_held) {
    read.guest->account->held -= 1;
  } else {
    answered(*read.guest, read.bytes);
  }
}

}  // namespace piracema::smr
