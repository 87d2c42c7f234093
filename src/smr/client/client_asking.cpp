#include <chrono>

#include "base/ensure.h"
#include "base/text.h"
#include "smr/client/client_engine.h"
#include "smr/order/messages/batch.h"
#include "wire/fields.h"

/// What a client asks for: sessions, requests, reads.
namespace piracema::smr {

namespace {

/// Until the first session tells.
constexpr std::uint32_t window_max = 65'536;

/// Numbers what belongs to no session: grows over the client's life, also beyond restarts.
Sequence clock_number() {
  return static_cast<Sequence>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

void ClientEngine::order(Kind kind, std::uint32_t group, Buffer operation, Time deadline,
                         Done done) {
  auto asked = std::make_unique<Asked>();
  asked->request.client = self_.name.id;
  asked->request.kind = kind;
  asked->request.group = group;
  asked->request.operation = std::move(operation);
  asked->deadline = deadline;
  asked->done = std::move(done);
  start(std::move(asked));
}

void ClientEngine::read(Buffer operation, Time deadline, Done done) {
  auto asked = std::make_unique<Asked>();
  asked->is_read = true;
  asked->request.client = self_.name.id;
  asked->request.operation = std::move(operation);
  asked->deadline = deadline;
  asked->done = std::move(done);
  if (asked->request.operation.size() > operation_bytes_max_) return start(std::move(asked));
  start_read(std::move(asked));
}

void ClientEngine::hold(Buffer operation, Time deadline, Done done) {
  auto asked = std::make_unique<Asked>();
  asked->is_read = asked->is_held = true;
  asked->request.client = self_.name.id;
  asked->request.operation = std::move(operation);
  asked->deadline = deadline;
  asked->done = std::move(done);
  if (asked->request.operation.size() > operation_bytes_max_) return start(std::move(asked));
  start_read(std::move(asked));
}

void ClientEngine::close(Time deadline, std::function<void()> done) {
  if (session_ == 0) {
    poller_.at(now(), std::move(done));
    return;
  }
  order(Kind::close, 0, {}, deadline, [done = std::move(done)](Result<Buffer>) { done(); });
}

void ClientEngine::open_session() {
  if (std::exchange(opening_, true)) return;
  order(Kind::open, 0, {}, Time::max(),
        [this](Result<Buffer> result) { opened(std::move(result)); });
}

void ClientEngine::opened(Result<Buffer> result) {
  opening_ = false;
  const auto session = result ? wire::decode<SessionOpened>(*result) : result.error();
  ENSURE(session_ == 0);  // What was asked in another one would be lost.
  if (!session || session->session == 0 || session->window == 0) {
    // Another process of this client has asked later than this one and was faster: once more. Or it
    // is no client any more: not so often that it is a burden.
    reopen_ = poller_.at(now() + (result ? Time{} : Time(retry_.first)), [this] {
      reopen_.reset();
      open_session();
    });
    return;
  }
  session_ = session->session;
  window_ = std::min(session->window, window_max);
  next_ = oldest_ = 1;
  asked_.clear();
  asked_.resize(window_);
  start_waiting();
}

void ClientEngine::start(AskedPtr asked) {
  if (!timer_) timer_ = poller_.at(now() + tick_interval, [this] { tick(); });
  Request& request = asked->request;
  if (request.operation.size() > operation_bytes_max_) {
    auto shared = std::shared_ptr<Asked>(std::move(asked));
    poller_.at(now(), [this, shared] {
      shared->done(
          Error{Errc::refused, concat("an operation of ", shared->request.operation.size(),
                                      " bytes, at most ", operation_bytes_max_, " are taken")});
    });
    return;
  }
  const bool sessionless = !has_session(request.kind);
  if (!sessionless && (session_ == 0 || next_ >= oldest_ + window_)) {
    waiting_.push_back(std::move(asked));
    return;
  }
  request.session = sessionless ? 0 : session_;
  request.sequence = sessionless ? clock_number() : next_++;
  prover_.prove(request);
  encode(request, asked->encoded);
  asked->pause = retry_.first;
  asked->next_try = now() + asked->pause;
  Asked& placed = *asked;
  if (sessionless) {
    sessionless_[request.sequence] = std::move(asked);
  } else {
    asked_[request.sequence % window_] = std::move(asked);
  }
  submit(placed);
}

void ClientEngine::start_waiting() {
  while (!waiting_.empty() && session_ != 0 && next_ < oldest_ + window_) {
    AskedPtr asked = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(asked));
  }
}

// Among liars every replica has to hear it from the client; where they only crash the leader is
// enough (paper 003, section 2.1: requests go to all).
void ClientEngine::submit(Asked& asked) {
  const auto leader = callers_.find(leader_);
  if (!byzantine_ && leader != callers_.end() && leader->second->link() != nullptr) {
    send_to(leader_, submit_kind, asked.encoded);
  } else {
    send_to_all(submit_kind, asked.encoded);
  }
}

void ClientEngine::start_read(AskedPtr asked) {
  if (!timer_) timer_ = poller_.at(now() + tick_interval, [this] { tick(); });
  asked->next_try = now() + (asked->is_held ? Time(hold_time) : Time(retry_.read));
  const std::uint64_t token = ++read_count_;
  Asked& placed = *(reads_[token] = std::move(asked));
  send_read(token, placed);
}

void ClientEngine::send_read(std::uint64_t token, Asked& asked) {
  const Buffer head = wire::encode(ReadHead{token});
  const auto leader = callers_.find(leader_);
  if (!byzantine_ && leader != callers_.end() && leader->second->link() != nullptr) {
    send_to(leader_, kind_of(asked), head, asked.request.operation);
  } else {
    send_to_all(kind_of(asked), head, asked.request.operation);
  }
}

void ClientEngine::order_instead(AskedPtr asked) {
  asked->is_read = false;
  asked->tally.clear();
  start(std::move(asked));
}

}  // namespace piracema::smr
