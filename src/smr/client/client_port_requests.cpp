#include <algorithm>

#include "base/text.h"
#include "smr/client/client_port.h"
#include "smr/order/messages/batch.h"
#include "wire/fields.h"

/// What clients ask for, and the replies to it.
namespace piracema::smr {

namespace {
// Of a message beside its operation.
constexpr std::size_t message_cost = 100;
}  // namespace

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
