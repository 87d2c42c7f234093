#include "smr/service/session.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::smr {

namespace {

// Small for a session that has only begun; sequences start from 1.
template <class T>
void make_room(std::vector<T>& ring, Sequence sequence) {
  const auto wanted = std::min<Sequence>(Session::window, sequence + 1);
  if (ring.size() < wanted) ring.resize(static_cast<std::size_t>(wanted));
}

}  // namespace

const Session::Answer* Session::find(Sequence sequence) const {
  const std::size_t at = sequence % window;
  if (at >= answers_.size() || answers_[at].sequence != sequence) return nullptr;
  return &answers_[at];
}

Session::Standing Session::standing(Sequence sequence) const {
  if (begun_highest_ >= window && sequence <= begun_highest_ - window) return Standing::forgotten;
  const std::size_t at = sequence % window;
  if (at >= begun_.size() || begun_[at] != sequence) return Standing::fresh;
  const Answer* answer = find(sequence);
  if (answer == nullptr) return Standing::under_way;
  return answer->reply != nullptr ? Standing::answered : Standing::forgotten;
}

std::shared_ptr<const Buffer> Session::reply(Sequence sequence) const {
  const Answer* answer = find(sequence);
  ENSURE(answer != nullptr && answer->reply != nullptr);
  return answer->reply;
}

void Session::begin(Sequence sequence) {
  ENSURE(sequence != 0 && standing(sequence) == Standing::fresh);
  make_room(begun_, sequence);
  begun_[sequence % window] = sequence;
  begun_highest_ = std::max(begun_highest_, sequence);
}

void Session::end(Sequence sequence, std::shared_ptr<const Buffer> reply) {
  ENSURE(reply != nullptr);
  make_room(answers_, sequence);
  // What falls out of the window goes at once, not when its place is needed: what is kept then
  // depends on the requests alone, whether this session was restored meanwhile or not.
  const Sequence passed = sequence > answered_highest_ ? sequence - answered_highest_ : 0;
  for (Sequence i = 0; i < std::min<Sequence>(passed, window); ++i) {
    const std::size_t at = (sequence - i) % window;
    if (at < answers_.size()) forget(answers_[at]);
  }
  answered_highest_ = std::max(answered_highest_, sequence);
  reply_bytes_ += reply->size();
  answers_[sequence % window] = {sequence, std::move(reply)};

  Sequence oldest = answered_highest_ >= window ? answered_highest_ - window + 1 : 1;
  for (; oldest <= answered_highest_ && reply_bytes_ > reply_bytes_max; ++oldest) {
    const std::size_t at = oldest % window;
    if (oldest == sequence || find(oldest) == nullptr) continue;
    forget(answers_[at]);
    answers_[at].sequence = oldest;
  }
}

void Session::forget(Answer& answer) {
  if (answer.reply != nullptr) reply_bytes_ -= answer.reply->size();
  answer = Answer{};
}

void Session::write(wire::Writer& out) const {
  ENSURE(begun_highest_ == answered_highest_);
  out.number(client_);
  out.number(opened_by_);
  out.number(life_);
  out.number(used);
  out.number(answered_highest_);
  const auto count = std::count_if(answers_.begin(), answers_.end(),
                                   [](const Answer& answer) { return answer.sequence != 0; });
  out.number(static_cast<std::uint64_t>(count));
  for (const Answer& answer : answers_) {
    if (answer.sequence == 0) continue;
    out.number(answer.sequence);
    out.number(static_cast<std::uint8_t>(answer.reply != nullptr));
    out.bytes(answer.reply != nullptr ? Bytes(*answer.reply) : Bytes{});
  }
}

Session Session::read(wire::Reader& in, bool has_life) {
  const auto client = in.number<ClientId>();
  const auto opened_by = in.number<Sequence>();
  Session session(client, opened_by, has_life ? in.number<std::uint64_t>() : 0);
  session.used = in.number<std::uint64_t>();
  const auto highest = in.number<Sequence>();
  const std::size_t count = in.count(17);
  make_room(session.begun_, highest);
  make_room(session.answers_, highest);
  session.begun_highest_ = highest;
  session.answered_highest_ = highest;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const auto sequence = in.number<Sequence>();
    const bool kept = in.number<std::uint8_t>() != 0;
    const Bytes bytes = in.bytes();
    if (sequence == 0 || sequence > highest || highest - sequence >= window) {
      in.fail("an answer out of a session's window");
      break;
    }
    session.begun_[sequence % window] = sequence;
    session.answers_[sequence % window] = {sequence,
                                           kept ? std::make_shared<const Buffer>(bytes) : nullptr};
    session.reply_bytes_ += kept ? bytes.size() : 0;
  }
  return session;
}

}  // namespace piracema::smr
