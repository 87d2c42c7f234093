#include "smr/client/pending_reads.h"

#include <algorithm>
#include <utility>

#include "wire/fields.h"

namespace piracema::smr::client {

namespace {
constexpr std::size_t head_bytes = 8;
/// Replicas answer a read that is held before that.
constexpr std::chrono::seconds hold_time{12};
}  // namespace

Bytes PendingRead::operation() const { return Bytes(*message).subspan(head_bytes); }

PendingRead& PendingReads::add(Time now, Ticket ticket, Bytes operation, Time deadline,
                               bool is_held) {
  const std::uint64_t token = ++count_;
  Buffer message = wire::encode(ReadHead{token});
  message.append(operation.data(), operation.size());
  PendingRead& read = reads_[token];
  read.ticket = ticket;
  read.is_held = is_held;
  read.message = std::make_shared<const Buffer>(std::move(message));
  read.deadline = deadline;
  read.next_try = now + (is_held ? Time(hold_time) : Time(patience_));
  return read;
}

PendingReads::Over PendingReads::over(Place place, std::optional<Buffer> result) {
  Over over{std::move(place->second), std::move(result)};
  reads_.erase(place);
  return over;
}

std::optional<PendingReads::Over> PendingReads::hear(Time now, const View& view, ReplicaId from,
                                                     const HeadAndRest<ReadReplyHead>& reply) {
  const auto found = reads_.find(reply.head.token);
  if (found == reads_.end()) return std::nullopt;
  PendingRead& read = found->second;
  if (view.model == FaultModel::crash) {
    if (reply.head.known) return over(found, Buffer(reply.rest));
    // The leader has changed, or is about to.
    read.next_try = std::min(read.next_try, now + pause_);
    return std::nullopt;
  }
  if (read.is_held) {
    // What replicas tell may end at different places: that so many of them tell anything, of whom
    // one is right, is a reason to ask all of them.
    if (read.tally.add(from, ReplyStatus::done, {}, view.one_correct()) == nullptr) {
      return std::nullopt;
    }
    return over(found, std::nullopt);
  }
  const std::size_t enough = view.quorum();
  const auto status = reply.head.known ? ReplyStatus::done : ReplyStatus::refused;
  const Tally::Answer* answer = read.tally.add(from, status, reply.rest, enough);
  if (answer == nullptr &&
      read.tally.agreeing() + (view.n() - std::min(view.n(), read.tally.replicas())) >= enough) {
    return std::nullopt;  // More may come.
  }
  if (answer == nullptr || answer->status != ReplyStatus::done) return over(found, std::nullopt);
  return over(found, answer->result);
}

PendingReads::Due PendingReads::due(Time now, bool is_byzantine) {
  Due due;
  for (auto place = reads_.begin(); place != reads_.end();) {
    PendingRead& read = place->second;
    if (read.deadline <= now) {
      due.late.push_back(read.ticket);
      place = reads_.erase(place);
      continue;
    }
    if (read.next_try <= now && is_byzantine && !read.is_held) {
      due.to_order.push_back(std::move(read));
      place = reads_.erase(place);
      continue;
    }
    if (read.next_try <= now) {
      read.next_try = now + (read.is_held ? Time(hold_time) : Time(pause_));
      read.repeats += 1;
      due.again.push_back(&read);
    }
    ++place;
  }
  return due;
}

std::vector<Ticket> PendingReads::end() {
  std::vector<Ticket> tickets;
  for (const auto& [token, read] : std::exchange(reads_, {})) tickets.push_back(read.ticket);
  return tickets;
}

void PendingReads::forget_answers() {
  for (auto& [token, read] : reads_) read.tally.clear();
}

}  // namespace piracema::smr::client
