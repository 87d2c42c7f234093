#include "smr/replica/local_client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

/// Grows over the replica's life, also beyond restarts: a session of an earlier one is not taken
/// up.
Sequence clock_number() {
  return static_cast<Sequence>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

Error too_late() {
  return {Errc::timeout, "not executed in time here; it may be executed all the same"};
}

Error nobody_knows(std::string_view what) {
  return {Errc::refused, concat(what, ": nobody knows whether it was executed")};
}

}  // namespace

LocalClient::LocalClient(ReplicaId replica, const KeyPair& key, Host host)
    : id_(local_client_of(replica)), host_(std::move(host)), prover_(key, FaultModel::crash) {}

void LocalClient::ask(bool ordered, Buffer operation, Time deadline, Invoker::Callback done) {
  std::optional<Error> refused;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      refused = closed_;
    } else if (outstanding_ >= outstanding_max) {
      refused =
          Error{Errc::refused, concat("more than ", outstanding_max, " operations at a time")};
    } else {
      outstanding_ += 1;
      posted_.push_back({ordered, std::move(operation), deadline, std::move(done)});
    }
  }
  // NOLINTNEXTLINE(bugprone-use-after-move): one that was refused was not posted.
  if (refused) return done(*refused);
  host_.wake();
}

void LocalClient::close(const Error& why) {
  std::vector<Asked> posted;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) closed_ = why;
    posted.swap(posted_);
  }
  std::vector<Invoker::Callback> told;
  for (Asked& asked : posted) told.push_back(std::move(asked.done));
  for (Asked& asked : std::exchange(waiting_, {})) told.push_back(std::move(asked.done));
  for (auto& [token, asked] : std::exchange(reads_, {})) told.push_back(std::move(asked.done));
  for (auto& [sequence, sent] : std::exchange(sent_, {})) told.push_back(std::move(sent.done));
  for (Invoker::Callback& done : told) finish(std::move(done), why);
}

void LocalClient::take(Time now) {
  now_ = now;
  std::vector<Asked> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (Asked& asked : posted) {
    if (asked.ordered) {
      start(std::move(asked));
      continue;
    }
    // Apart from the tokens of those who come over connections.
    const std::uint64_t token = local_client_base | ++read_count_;
    Buffer operation = asked.operation;
    reads_.emplace(token, std::move(asked));
    host_.read(token, std::move(operation));
  }
}

void LocalClient::start(Asked asked) {
  if (!has_room()) {
    waiting_.push_back(std::move(asked));
    if (session_ == 0) open_session();
    return;
  }
  Sent sent;
  sent.request.client = id_;
  sent.request.session = session_;
  sent.request.sequence = next_++;
  sent.request.kind = Kind::ordered;
  sent.request.operation = std::move(asked.operation);
  prover_.prove(sent.request);
  sent.deadline = asked.deadline;
  sent.next_try = now_ + retry;
  sent.done = std::move(asked.done);
  Request request = sent.request;
  sent_.emplace(request.sequence, std::move(sent));
  host_.submit(std::move(request));
}

void LocalClient::open_session() {
  if (opening_) return;
  Sent& sent = opening_.emplace(Sent{});
  sent.request.client = id_;
  sent.request.sequence = std::max(clock_number(), opened_before_ + 1);
  sent.request.kind = Kind::open;
  prover_.prove(sent.request);
  sent.next_try = now_ + retry;
  host_.submit(sent.request);
}

void LocalClient::reply(const Reply& reply) {
  if (reply.session == 0) return opened(reply);
  if (reply.session != session_) return;
  const auto found = sent_.find(reply.sequence);
  if (found == sent_.end()) return;
  Invoker::Callback done = std::move(found->second.done);
  if (reply.status == ReplyStatus::no_session) {
    finish(std::move(done), nobody_knows("the session had to make room for others"));
    return session_lost();
  }
  sent_.erase(found);
  if (reply.status == ReplyStatus::done) {
    finish(std::move(done), reply.result ? *reply.result : Buffer());
  } else {
    finish(std::move(done), nobody_knows("the reply is not kept any more"));
  }
  start_waiting();
}

bool LocalClient::has_room() const {
  return session_ != 0 && (sent_.empty() || next_ < sent_.begin()->first + window_);
}

void LocalClient::start_waiting() {
  while (!waiting_.empty() && has_room()) {
    Asked asked = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(asked));
  }
}

void LocalClient::opened(const Reply& reply) {
  if (!opening_ || reply.sequence != opening_->request.sequence) return;
  opening_.reset();
  // A later one of an earlier life, by a clock that has been set back since: asked again by the
  // next tick, with a number above that one's.
  if (reply.status == ReplyStatus::no_session) {
    const auto before = wire::decode<Outnumbered>(reply.result ? Bytes(*reply.result) : Bytes());
    if (before) opened_before_ = before->last;
    return;
  }
  const auto opened = reply.status == ReplyStatus::done && reply.result
                          ? wire::decode<SessionOpened>(*reply.result)
                          : Error{Errc::refused, "the group refuses the process of this replica"};
  if (opened && opened->session != 0 && opened->window != 0) {
    session_ = opened->session;
    window_ = opened->window;
    next_ = 1;
    return start_waiting();
  }
  for (Asked& asked : std::exchange(waiting_, {})) {
    finish(std::move(asked.done),
           Error{Errc::refused, opened ? "no session" : opened.error().message});
  }
}

void LocalClient::session_lost() {
  session_ = 0;
  for (auto& [sequence, sent] : std::exchange(sent_, {})) {
    finish(std::move(sent.done), nobody_knows("the session had to make room for others"));
  }
  if (!waiting_.empty()) open_session();
}

void LocalClient::read_reply(std::uint64_t token, bool known, Bytes result) {
  const auto found = reads_.find(token);
  if (found == reads_.end()) return;
  Asked asked = std::move(found->second);
  reads_.erase(found);
  if (known) return finish(std::move(asked.done), Buffer(result));
  start(std::move(asked));
}

void LocalClient::tick(Time now) {
  now_ = now;
  std::vector<Invoker::Callback> late;
  const auto is_late = [&](auto& asked) {
    if (asked.deadline > now) return false;
    late.push_back(std::move(asked.done));
    asked.done = nullptr;
    return true;
  };
  std::erase_if(waiting_, is_late);
  for (auto read = reads_.begin(); read != reads_.end();) {
    read = is_late(read->second) ? reads_.erase(read) : std::next(read);
  }
  for (auto& [sequence, sent] : sent_) {
    if (sent.done) is_late(sent);
    if (sent.next_try > now) continue;
    sent.next_try = now + retry;
    host_.submit_again(sent.request);
  }
  if (session_ == 0 && !waiting_.empty()) open_session();
  if (opening_ && opening_->next_try <= now) {
    opening_->next_try = now + retry;
    host_.submit_again(opening_->request);
  }
  for (Invoker::Callback& done : late) finish(std::move(done), too_late());
}

void LocalClient::finish(Invoker::Callback done, Result<Buffer> result) {
  if (!done) return;
  {
    const std::lock_guard lock(mutex_);
    outstanding_ -= 1;
  }
  done(std::move(result));
}

}  // namespace piracema::smr
