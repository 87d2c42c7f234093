#include "smr/client/client_machine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/statements.h"
#include "wire/fields.h"

namespace piracema::smr::client {

namespace {

/// How exact deadlines and repetitions are.
constexpr std::chrono::milliseconds tick_interval{20};

Error nobody_knows(std::string_view what) {
  return {Errc::refused, concat(what, ": nobody knows whether it was executed")};
}

}  // namespace

Machine::Machine(const Settings& settings, View view, std::vector<MemberInfo> added, Keyring& keys)
    : settings_(settings),
      keys_(keys),
      group_(std::move(view), std::move(added)),
      reads_(settings.retry, tick_interval) {
  ENSURE(keys_.use_members(group_.view().members).ok());
}

void Machine::step(Time now, Event event, std::vector<Action>& out) {
  ENSURE(now >= now_ && out_ == nullptr);
  now_ = now;
  out_ = &out;
  if (!begun_at_) begin();
  std::visit([this](auto& what) { on(what); }, event);
  out_ = nullptr;
}

std::optional<Time> Machine::next_deadline() const {
  if (!begun_at_) return Time{};
  if (!look_at_ || !reopen_at_) return look_at_ ? look_at_ : reopen_at_;
  return std::min(*look_at_, *reopen_at_);
}

void Machine::begin() {
  begun_at_ = now_;
  change_calls();
  if (settings_.id != administrator_id) open_session();
}

void Machine::change_calls() {
  KnownGroup::Calls calls = group_.change_calls();
  for (const ReplicaId id : calls.end) out_->push_back(Disconnect{id});
  for (MemberInfo& replica : calls.begin) out_->push_back(Connect{std::move(replica)});
}

// ---- what is asked for ----------------------------------------------------------------------

void Machine::on(OrderWanted& wanted) {
  auto pending = std::make_unique<PendingRequest>();
  pending->ticket = wanted.ticket;
  pending->deadline = wanted.deadline;
  Request& request = pending->request;
  request.client = settings_.id;
  request.kind = wanted.kind;
  request.group = wanted.group;
  request.operation = std::move(wanted.operation);
  start(std::move(pending));
}

void Machine::on(ReadWanted& wanted) {
  const std::size_t bytes = wanted.operation.size();
  if (bytes > settings_.operation_bytes_max) return refuse_size(wanted.ticket, bytes);
  start_read(wanted.ticket, wanted.operation, wanted.deadline, wanted.is_held);
}

void Machine::on(Met& met) {
  group_.meet(met.replicas);
  change_calls();
}

void Machine::on(StatusesWanted&) { send_to_all(status_kind, std::make_shared<const Buffer>()); }

void Machine::refuse_size(Ticket ticket, std::size_t bytes) {
  out_->push_back(
      Answer{ticket, Error{Errc::refused, concat("an operation of ", bytes, " bytes, at most ",
                                                 settings_.operation_bytes_max, " are taken")}});
}

void Machine::start(PendingPtr pending) {
  Request& request = pending->request;
  if (request.operation.size() > settings_.operation_bytes_max) {
    return refuse_size(pending->ticket, request.operation.size());
  }
  keep_ticking();
  pending->pause = settings_.retry.first;
  pending->next_try = now_ + pending->pause;
  PendingRequest* const placed = requests_.add(std::move(pending), least_number());
  if (placed == nullptr) return;
  seal(*placed);
  submit(*placed);
}

void Machine::start_waiting() {
  while (PendingPtr pending = requests_.next_waiting()) start(std::move(pending));
}

// Grows over the client's life, also beyond restarts, and while another process of it counts too.
Sequence Machine::least_number() const {
  return settings_.first_number + static_cast<Sequence>((now_ - *begun_at_).count());
}

void Machine::seal(PendingRequest& pending) {
  keys_.prove(pending.request);
  Buffer message;
  encode(pending.request, message);
  pending.message = std::make_shared<const Buffer>(std::move(message));
}

// Among liars every replica has to hear it from the client; where they only crash the leader is
// enough (paper 003, section 2.1: requests go to all).
void Machine::submit(const PendingRequest& pending) {
  if (const auto leader = group_.leader_to_ask()) {
    send(*leader, submit_kind, pending.message);
  } else {
    send_to_all(submit_kind, pending.message);
  }
}

void Machine::start_read(Ticket ticket, Bytes operation, Time deadline, bool is_held) {
  keep_ticking();
  send(reads_.add(now_, ticket, operation, deadline, is_held));
}

void Machine::send(const PendingRead& read) {
  if (const auto leader = group_.leader_to_ask()) {
    send(*leader, read.kind(), read.message);
  } else {
    send_to_all(read.kind(), read.message);
  }
}

void Machine::order_instead(const PendingRead& read) {
  auto pending = std::make_unique<PendingRequest>();
  pending->ticket = read.ticket;
  pending->deadline = read.deadline;
  pending->request.client = settings_.id;
  pending->request.operation = Buffer(read.operation());
  start(std::move(pending));
}

void Machine::send(ReplicaId to, std::uint8_t kind, std::shared_ptr<const Buffer> message) {
  out_->push_back(Send{to, kind, std::move(message)});
}

void Machine::send_to_all(std::uint8_t kind, const std::shared_ptr<const Buffer>& message) {
  group_.each_up([&](ReplicaId id) { send(id, kind, message); });
}

void Machine::send_all_again() {
  requests_.each([&](const PendingRequest& one) { send_to_all(submit_kind, one.message); });
  reads_.each([&](const PendingRead& read) { send_to_all(read.kind(), read.message); });
}

// ---- sessions -------------------------------------------------------------------------------

void Machine::open_session() {
  if (std::exchange(is_opening_, true)) return;
  OrderWanted wanted{.kind = Kind::open,
                     .operation = wire::encode(Opens{settings_.life}),
                     .deadline = Time::max()};
  on(wanted);
}

void Machine::opened(Result<Buffer> result) {
  is_opening_ = false;
  const auto session = result ? wire::decode<SessionOpened>(*result) : result.error();
  ENSURE(!is_in_session());  // What was asked in another one would be lost.
  if (!session || session->session == 0 || session->window == 0) {
    // It is no client any more: not so often that it is a burden.
    reopen_at_ = now_ + Time(settings_.retry.first);
    return;
  }
  // What is asked for in the session of another process is taken for a copy of what that one has
  // asked for: it would be answered, and never executed.
  if (session->life != settings_.life) {
    reopen_at_ = now_;
    return;
  }
  requests_.open_session(session->session, session->window);
  start_waiting();
}

// Another process of this client has asked later, or by a clock that is ahead of this one's; or so
// has this one, before the clock was set back.
void Machine::outnumbered(Bytes result) {
  is_opening_ = false;
  const auto before = wire::decode<Outnumbered>(result);
  if (before) requests_.number_above(before->last);
  // Replicas of an earlier version do not say by which number: then time has to go by.
  reopen_at_ = now_ + (before ? Time{} : Time(settings_.retry.first));
}

// The same of what an administrator asks for: another one was heard before. What nobody waits for
// any more would undo what was asked for since.
bool Machine::ask_above(PendingPtr& pending, Bytes result) {
  const auto before = wire::decode<Outnumbered>(result);
  if (!before || pending->ticket == 0) return false;
  requests_.number_above(before->last);
  pending->tally.clear();
  start(std::move(pending));
  return true;
}

void Machine::session_lost() {
  for (PendingPtr& lost : requests_.end_session()) {
    finish(*lost, nobody_knows("the session had to make room for others"));
  }
  if (settings_.id != administrator_id) open_session();
}

// ---- who is there ---------------------------------------------------------------------------

// What it may have missed.
void Machine::on(LinkUp& link) {
  group_.up(link.replica);
  if (!group_.is_byzantine() && group_.standing() && link.replica != group_.leader()) return;
  requests_.each([&](const PendingRequest& one) { send(link.replica, submit_kind, one.message); });
  reads_.each([&](const PendingRead& read) { send(link.replica, read.kind(), read.message); });
}

void Machine::on(LinkDown& link) {
  const bool was_up = group_.down(now_, link.replica, std::move(link.why), link.is_refused);
  // A leader that is gone leads no more: ask those who are there, at once.
  if (was_up && !group_.is_byzantine() && link.replica == group_.leader()) send_all_again();
}

// ---- what replicas say ----------------------------------------------------------------------

void Machine::on(Heard& heard) {
  if (heard.kind == status_reply_kind) {
    if (auto told = decode_status(heard.message)) group_.hear(heard.from, *std::move(told));
    return;
  }
  // One that is about to come, or has gone, may tell of a later view and of nothing else.
  const bool is_member = group_.view().has(heard.from);
  if (!is_member && heard.kind != new_view_kind && heard.kind != standing_kind) return;
  switch (heard.kind) {
    case reply_kind:
      return reply(heard.from, heard.message);
    case read_reply_kind:
      return read_reply(heard.from, heard.message);
    case new_view_kind:
      return new_view(heard.message);
    case standing_kind: {
      const auto standing = wire::decode<Standing>(heard.message);
      if (!standing || !group_.hear(heard.from, *standing)) return;
      requests_.each([&](const PendingRequest& one) { submit(one); });
      return reads_.each([&](const PendingRead& read) { send(read); });
    }
    default:
      return;  // Of a later version, or of a liar.
  }
}

void Machine::reply(ReplicaId from, Bytes message) {
  const auto reply = decode_reply(message);
  if (!reply) return;
  const auto& [session, sequence, given] = reply->head;
  PendingRequest* const found = requests_.find(session, sequence);
  if (found == nullptr) return;  // One more than was needed.
  // Crash: whoever answers has executed it. Byzantine: not f + 1 but a quorum, or a read that is
  // answered by a quorum could miss what was acknowledged before (smr/order/core/core.h).
  ReplyStatus status = given;
  Bytes result = reply->rest;
  if (group_.is_byzantine()) {
    const View& view = group_.view();
    const Tally::Answer* answer = found->tally.add(from, status, result, view.quorum());
    if (answer == nullptr) return;
    status = answer->status;
    result = answer->result;
  }
  answered(requests_.take(*found), status, result);
}

void Machine::answered(PendingPtr pending, ReplyStatus status, Bytes result) {
  switch (status) {
    case ReplyStatus::done:
      finish(*pending, Buffer(result));
      break;
    case ReplyStatus::refused:
      finish(*pending, Error{Errc::refused, result.empty() ? "the replicas refuse it"
                                                           : std::string(as_text(result))});
      break;
    case ReplyStatus::forgotten:
      if (pending->request.kind == Kind::admit && ask_above(pending, result)) break;
      finish(*pending, nobody_knows("the reply is not kept any more"));
      break;
    case ReplyStatus::no_session:
      if (pending->request.kind == Kind::open) return outnumbered(result);
      if (pending->request.kind == Kind::close) {
        finish(*pending, Buffer());
      } else {
        finish(*pending, nobody_knows("the session had to make room for others"));
      }
      return session_lost();
  }
  start_waiting();
}

void Machine::finish(PendingRequest& pending, Result<Buffer> result) {
  if (pending.request.kind == Kind::open) return opened(std::move(result));
  const Ticket ticket = std::exchange(pending.ticket, 0);
  if (ticket != 0) out_->push_back(Answer{ticket, std::move(result)});
}

void Machine::read_reply(ReplicaId from, Bytes message) {
  const auto reply = decode_read_reply(message);
  if (!reply) return;
  auto over = reads_.hear(now_, group_.view(), from, *reply);
  if (!over) return;
  const PendingRead& read = over->read;
  if (over->result) {
    out_->push_back(Answer{read.ticket, *std::move(over->result)});
  } else if (read.is_held) {
    start_read(read.ticket, read.operation(), read.deadline, false);
  } else {
    order_instead(read);
  }
}

// ---- views ----------------------------------------------------------------------------------

void Machine::new_view(Bytes message) {
  const auto decoded = decode_message(message);
  const auto* next = decoded ? std::get_if<SignedView>(decoded->get()) : nullptr;
  if (next == nullptr || next->view.id <= group_.view().id || !is_proven(*next)) return;
  if (keys_.use_members(next->view.members).ok()) use_view(next->view);
}

// As smr::proven; a client has other keys.
bool Machine::is_proven(const SignedView& next) const {
  const Buffer statement = signed_bytes(next.view);
  std::set<ReplicaId> signers;
  for (const MemberInfo& member : group_.view().members) {
    for (const Signature& signature : next.signatures) {
      if (signature.signer == member.id && keys_.verify(member, statement, signature.bytes)) {
        signers.insert(member.id);
      }
    }
  }
  return signers.size() >= group_.view().prove_next();
}

void Machine::use_view(const View& view) {
  group_.use_view(view);
  change_calls();
  requests_.each([&](PendingRequest& one) {
    one.tally.clear();
    seal(one);
  });
  reads_.forget_answers();
  send_all_again();
  // Whoever has asked for a change looks what has come of it.
  for (const PendingPtr& change : requests_.take_changes()) finish(*change, Buffer());
}

// ---- time -----------------------------------------------------------------------------------

void Machine::keep_ticking() {
  if (!look_at_) look_at_ = now_ + tick_interval;
}

void Machine::on(Tick&) {
  if (reopen_at_ && *reopen_at_ <= now_) {
    reopen_at_.reset();
    open_session();
  }
  if (look_at_ && *look_at_ <= now_) look_at_all();
}

// What is asked for again, or given up.
void Machine::look_at_all() {
  look_at_.reset();
  if (group_.is_stranger(now_)) give_up_as_stranger();
  std::vector<Ticket> late;
  // One that is late is asked on for, so that its place in the window becomes free.
  requests_.each([&](PendingRequest& one) {
    if (one.ticket != 0 && one.deadline <= now_) late.push_back(std::exchange(one.ticket, 0));
    if (one.next_try > now_) return;
    one.pause = std::min(2 * std::max(one.pause, settings_.retry.first), settings_.retry.longest);
    one.next_try = now_ + one.pause;
    send_to_all(submit_kind, one.message);
  });
  PendingReads::Due due = reads_.due(now_, group_.is_byzantine());
  for (const PendingRead* read : due.again) {
    read->is_for_all() ? send_to_all(read->kind(), read->message) : send(*read);
  }
  late.insert(late.end(), due.late.begin(), due.late.end());
  for (const Ticket ticket : requests_.drop_late(now_)) late.push_back(ticket);
  for (const PendingRead& read : due.to_order) order_instead(read);
  if (!reads_.is_empty() || !requests_.is_empty()) keep_ticking();
  if (late.empty()) return;
  const std::string trouble = group_.trouble();
  const std::string why = concat("no answer in time from the replicas",
                                 trouble.empty() ? "" : concat(" (", trouble, ")"),
                                 "; it may be executed all the same");
  for (const Ticket ticket : late) out_->push_back(Answer{ticket, Error{Errc::timeout, why}});
}

void Machine::give_up_as_stranger() {
  const std::string why = concat("the replicas do not know this client (", group_.trouble(), ")");
  const auto refuse = [&](Ticket ticket, std::string_view what) {
    out_->push_back(Answer{ticket, Error{Errc::refused, concat(why, what)}});
  };
  // What waits for a session was never sent.
  for (const PendingPtr& pending : requests_.take_waiting()) {
    refuse(pending->ticket, "; it was not executed");
  }
  for (const Ticket ticket : reads_.end()) refuse(ticket, "");
  // The session itself is asked for until there is one: somebody may admit this client.
  requests_.each([&](PendingRequest& one) {
    if (one.ticket == 0) return;
    refuse(std::exchange(one.ticket, 0), "; nobody knows whether it was executed");
  });
}

}  // namespace piracema::smr::client
