#include <algorithm>

#include "base/text.h"
#include "smr/client/client_engine.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/messages.h"
#include "wire/fields.h"

/// What a client is answered.
namespace piracema::smr {

namespace {

Error nobody_knows(std::string_view what) {
  return {Errc::refused, concat(what, ": nobody knows whether it was executed")};
}

}  // namespace

void ClientEngine::received(ReplicaId from, std::uint8_t kind, Bytes message) {
  if (kind == status_reply_kind) {
    if (const auto told = decode_status(message)) statuses_[from] = *told;
    return;
  }
  // One that is about to come, or has gone, may tell of a later view and of nothing else.
  if (!view_.has(from) && kind != new_view_kind && kind != standing_kind) return;
  switch (kind) {
    case reply_kind:
      return reply(from, message);
    case read_reply_kind:
      return read_reply(from, message);
    case new_view_kind:
      return new_view(message);
    case standing_kind:
      if (const auto standing = wire::decode<Standing>(message)) new_standing(from, *standing);
      return;
    default:
      return;  // Of a later version, or of a liar.
  }
}

ClientEngine::AskedPtr* ClientEngine::find(std::uint64_t session, Sequence sequence) {
  if (session == 0) {
    const auto found = sessionless_.find(sequence);
    return found == sessionless_.end() ? nullptr : &found->second;
  }
  if (session != session_) return nullptr;
  AskedPtr& slot = asked_[sequence % window_];
  return slot && slot->request.sequence == sequence ? &slot : nullptr;
}

void ClientEngine::reply(ReplicaId from, Bytes message) {
  const auto reply = decode_reply(message);
  if (!reply) return;
  AskedPtr* const slot = find(reply->head.session, reply->head.sequence);
  if (slot == nullptr) return;  // One more than was needed.
  // Crash: whoever answers has executed it. Byzantine: not f + 1 but a quorum, or a read that is
  // answered by a quorum could miss what was acknowledged before (smr/order/core/core.h).
  ReplyStatus status = reply->head.status;
  Bytes result = reply->rest;
  AskedPtr asked;
  if (byzantine_) {
    const Tally::Answer* answer = (*slot)->tally.add(from, status, result, view_.quorum());
    if (answer == nullptr) return;
    asked = std::move(*slot);
    status = answer->status;
    result = answer->result;
  } else {
    asked = std::move(*slot);
  }
  if (reply->head.session == 0) sessionless_.erase(reply->head.sequence);
  answered(std::move(asked), status, result);
}

void ClientEngine::answered(AskedPtr asked, ReplyStatus status, Bytes result) {
  if (asked->request.session != 0) {
    while (oldest_ < next_ && !asked_[oldest_ % window_]) oldest_ += 1;
  }
  switch (status) {
    case ReplyStatus::done:
      finish(std::move(asked), Buffer(result));
      break;
    case ReplyStatus::refused:
      finish(std::move(asked), Error{Errc::refused, result.empty() ? "the replicas refuse it"
                                                                   : std::string(as_text(result))});
      break;
    case ReplyStatus::forgotten:
      finish(std::move(asked), nobody_knows("the reply is not kept any more"));
      break;
    case ReplyStatus::no_session:
      if (asked->request.kind == Kind::open) return finish(std::move(asked), Buffer());
      if (asked->request.kind == Kind::close) {
        finish(std::move(asked), Buffer());
      } else {
        finish(std::move(asked), nobody_knows("the session had to make room for others"));
      }
      return session_lost();
  }
  start_waiting();
}

void ClientEngine::session_lost() {
  session_ = 0;
  std::vector<AskedPtr> lost;
  lost.swap(asked_);
  for (AskedPtr& asked : lost) {
    if (!asked) continue;
    finish(std::move(asked), nobody_knows("the session had to make room for others"));
  }
  open_session();
}

void ClientEngine::finish(AskedPtr asked, Result<Buffer> result) {
  if (!asked->done) return;  // It was told already that it takes too long.
  const Done done = std::move(asked->done);
  done(std::move(result));
}

void ClientEngine::read_reply(ReplicaId from, Bytes message) {
  const auto reply = decode_read_reply(message);
  if (!reply) return;
  const auto found = reads_.find(reply->head.token);
  if (found == reads_.end()) return;
  Asked& asked = *found->second;
  if (!byzantine_) {
    if (!reply->head.known) {
      // The leader has changed, or is about to.
      asked.next_try = std::min(asked.next_try, now() + tick_interval);
      return;
    }
    const AskedPtr mine = std::move(found->second);
    reads_.erase(found);
    mine->done(Buffer(reply->rest));
    return;
  }
  if (asked.is_held) {
    // What replicas tell may end at different places: that so many of them tell anything, of whom
    // one is right, is a reason to ask all of them.
    if (asked.tally.add(from, ReplyStatus::done, {}, view_.one_correct()) == nullptr) return;
    AskedPtr news = std::move(found->second);
    reads_.erase(found);
    news->is_held = false;
    news->tally.clear();
    return start_read(std::move(news));
  }
  const auto status = reply->head.known ? ReplyStatus::done : ReplyStatus::refused;
  const Tally::Answer* answer = asked.tally.add(from, status, reply->rest, view_.quorum());
  if (answer == nullptr &&
      asked.tally.agreeing() + (view_.n() - asked.tally.replicas()) >= view_.quorum()) {
    return;  // More may come.
  }
  AskedPtr mine = std::move(found->second);
  reads_.erase(found);
  if (answer == nullptr || answer->status != ReplyStatus::done) {
    return order_instead(std::move(mine));
  }
  mine->done(Buffer(answer->result));
}

}  // namespace piracema::smr
