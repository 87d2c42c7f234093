#include "smr/node/client_engine.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "base/ensure.h"
#include "base/text.h"
#include "smr/order/batch.h"
#include "smr/order/messages.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

/// How exact deadlines and repetitions are.
constexpr std::chrono::milliseconds tick_interval{20};
/// Until the first session tells.
constexpr std::uint32_t window_max = 65'536;

Error nobody_knows(std::string_view what) {
  return {Errc::refused, concat(what, ": nobody knows whether it was executed")};
}

/// Numbers what belongs to no session: grows over the client's life, also beyond restarts.
Sequence clock_number() {
  return static_cast<Sequence>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

View view_of(const Configuration& configuration) {
  View view;
  view.model = configuration.byzantine ? FaultModel::byzantine : FaultModel::crash;
  view.f = configuration.f;
  for (const auto& replica : configuration.replicas) {
    view.members.push_back({replica.id, replica.address, replica.public_key});
  }
  std::sort(view.members.begin(), view.members.end(),
            [](const MemberInfo& a, const MemberInfo& b) { return a.id < b.id; });
  return view;
}

ClientEngine::ClientEngine(net::Poller& poller, FlushList& flush_list,
                           const Configuration& configuration, ClientId id, const KeyPair& key,
                           const Retry& retry)
    : poller_(poller),
      flush_list_(flush_list),
      self_{configuration.name, {PeerName::Role::client, id}, key},
      retry_(retry),
      byzantine_(configuration.byzantine),
      operation_bytes_max_(configuration.operation_bytes_max),
      prover_(key, byzantine_ ? FaultModel::byzantine : FaultModel::crash),
      view_(view_of(configuration)) {
  leader_ = view_.leader(0);
  ENSURE(prover_.use_members(view_.members).ok());  // The configuration is valid.
  connect();
  open_session();
}

ClientEngine::~ClientEngine() {
  if (timer_) poller_.cancel(*timer_);
}

// ---- links -----------------------------------------------------------------------------------

void ClientEngine::connect() {
  std::map<ReplicaId, std::unique_ptr<Caller>> callers;
  for (const MemberInfo& member : view_.members) {
    if (const auto old = callers_.find(member.id); old != callers_.end()) {
      callers[member.id] = std::move(old->second);
      continue;
    }
    const auto key = parse_public_key(member.public_key);
    const auto address = net::Address::parse(member.address);
    if (!key || !address) continue;  // Of a later view, which its members took all the same.
    Link::Events events;
    events.known = [this, id = member.id](Link&) {
      // The link is the caller's only when this has returned.
      poller_.at(now(), [this, id] { known(id); });
    };
    events.received = [this, id = member.id](Link&, std::uint8_t kind, Bytes message) {
      received(id, kind, message);
    };
    events.lost = [this, id = member.id](Link&, const Error&) {
      // A leader that is gone leads no more: ask those who are there, at once.
      if (!byzantine_ && id == leader_) resend_all();
    };
    callers[member.id] =
        std::make_unique<Caller>(poller_, flush_list_, self_,
                                 Caller::Whom{{PeerName::Role::replica, member.id}, *key, *address},
                                 std::move(events), Link::Limits{});
  }
  callers_.swap(callers);
}

std::size_t ClientEngine::links() const {
  return static_cast<std::size_t>(
      std::count_if(callers_.begin(), callers_.end(),
                    [](const auto& each) { return each.second->link() != nullptr; }));
}

std::string ClientEngine::trouble() const {
  std::string text;
  for (const auto& [id, caller] : callers_) {
    if (caller->link() != nullptr || caller->why().empty()) continue;
    text += concat(text.empty() ? "" : "; ", "replica ", id, ": ", caller->why());
  }
  return text;
}

void ClientEngine::send_to(ReplicaId to, std::uint8_t kind, Bytes first, Bytes second) {
  const auto found = callers_.find(to);
  if (found == callers_.end()) return;
  if (Link* link = found->second->link()) link->send(kind, first, second);
}

void ClientEngine::send_to_all(std::uint8_t kind, Bytes first, Bytes second) {
  for (const auto& [id, caller] : callers_) send_to(id, kind, first, second);
}

void ClientEngine::known(ReplicaId from) {
  if (!byzantine_ && standing_ && from != leader_) return;
  each_asked([&](Asked& asked) { send_to(from, submit_kind, asked.encoded); });
  for (const auto& [token, asked] : reads_) {
    send_to(from, read_kind, wire::encode(ReadHead{token}), asked->request.operation);
  }
}

void ClientEngine::resend_all() {
  each_asked([&](Asked& asked) { send_to_all(submit_kind, asked.encoded); });
  for (const auto& [token, asked] : reads_) {
    send_to_all(read_kind, wire::encode(ReadHead{token}), asked->request.operation);
  }
}

// ---- asking ----------------------------------------------------------------------------------

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
  // Another process of this client has asked later than this one and was faster: once more.
  if (!session || session->session == 0 || session->window == 0) return open_session();
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
  const bool sessionless = request.kind == Kind::open || request.kind == Kind::reconfigure;
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
  asked->next_try = now() + retry_.read;
  const std::uint64_t token = ++read_count_;
  Asked& placed = *(reads_[token] = std::move(asked));
  send_read(token, placed);
}

void ClientEngine::send_read(std::uint64_t token, Asked& asked) {
  const Buffer head = wire::encode(ReadHead{token});
  const auto leader = callers_.find(leader_);
  if (!byzantine_ && leader != callers_.end() && leader->second->link() != nullptr) {
    send_to(leader_, read_kind, head, asked.request.operation);
  } else {
    send_to_all(read_kind, head, asked.request.operation);
  }
}

void ClientEngine::order_instead(AskedPtr asked) {
  asked->is_read = false;
  asked->tally.clear();
  start(std::move(asked));
}

// ---- being answered --------------------------------------------------------------------------

void ClientEngine::received(ReplicaId from, std::uint8_t kind, Bytes message) {
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
  // answered by a quorum could miss what was acknowledged before (smr/order/core.h).
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

void ClientEngine::new_standing(ReplicaId from, const Standing& standing) {
  if (byzantine_) {
    // A hint for people; requests go to all.
    if (!standing_ || from == standing.leader) standing_ = standing;
    return;
  }
  if (standing_ && standing.regency < standing_->regency) return;
  standing_ = standing;
  if (std::exchange(leader_, standing.leader) == standing.leader) return;
  each_asked([&](Asked& asked) { submit(asked); });
  for (const auto& [token, asked] : reads_) send_read(token, *asked);
}

// A view is believed if a quorum of the one that is known has signed it.
void ClientEngine::new_view(Bytes message) {
  const auto decoded = decode_message(message);
  const auto* signed_view = decoded ? std::get_if<SignedView>(decoded->get()) : nullptr;
  if (signed_view == nullptr || signed_view->view.id <= view_.id) return;
  const Buffer statement = signed_bytes(signed_view->view);
  std::set<ReplicaId> signers;
  for (const MemberInfo& member : view_.members) {
    const auto key = parse_public_key(member.public_key);
    for (const Signature& signature : signed_view->signatures) {
      if (signature.signer == member.id && key &&
          verify_signature(*key, statement, signature.bytes)) {
        signers.insert(member.id);
      }
    }
  }
  if (signers.size() < view_.quorum() || !prover_.use_members(signed_view->view.members).ok()) {
    return;
  }
  view_ = signed_view->view;
  poller_.at(now(), [this] {  // Callers may go, and one of them has called.
    connect();
    each_asked([&](Asked& asked) {
      asked.tally.clear();
      prover_.prove(asked.request);
      asked.encoded.clear();
      encode(asked.request, asked.encoded);
    });
    resend_all();
  });
}

// ---- time ------------------------------------------------------------------------------------

template <class Visit>
void ClientEngine::each_asked(Visit visit) {
  for (const auto& [number, asked] : sessionless_) visit(*asked);
  for (Sequence sequence = oldest_; session_ != 0 && sequence < next_; ++sequence) {
    if (const AskedPtr& asked = asked_[sequence % window_]) visit(*asked);
  }
}

void ClientEngine::tick() {
  const Time time = now();
  std::vector<Done> late;
  const auto look = [&](Asked& asked) {
    if (asked.done && asked.deadline <= time) late.push_back(std::move(asked.done));
    if (asked.next_try > time) return false;
    asked.pause = std::min(2 * std::max(asked.pause, retry_.first), retry_.longest);
    asked.next_try = time + asked.pause;
    return true;
  };
  // One that is late is asked on for, so that its place in the window becomes free.
  each_asked([&](Asked& asked) {
    if (look(asked)) send_to_all(submit_kind, asked.encoded);
  });
  std::vector<AskedPtr> to_order;
  for (auto read = reads_.begin(); read != reads_.end();) {
    Asked& asked = *read->second;
    const bool again = look(asked);
    if (again && byzantine_ && asked.done) to_order.push_back(std::move(read->second));
    if (again && !byzantine_) {
      asked.next_try = time + tick_interval;
      send_read(read->first, asked);
    }
    const bool over = !read->second || !read->second->done;
    read = over ? reads_.erase(read) : std::next(read);
  }
  std::erase_if(waiting_, [&](AskedPtr& asked) {
    if (asked->deadline > time) return false;
    late.push_back(std::move(asked->done));
    return true;
  });
  const bool idle = reads_.empty() && waiting_.empty() && sessionless_.empty() && oldest_ == next_;
  timer_.reset();
  if (!idle) timer_ = poller_.at(time + tick_interval, [this] { tick(); });
  for (AskedPtr& asked : to_order) order_instead(std::move(asked));
  for (const Done& done : late) {
    done(Error{
        Errc::timeout,
        concat("no answer in time from the replicas", trouble().empty() ? "" : " (", trouble(),
               trouble().empty() ? "" : ")", "; it may be executed all the same")});
  }
}

}  // namespace piracema::smr
