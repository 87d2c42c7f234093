#include "smr/client/client_engine.h"

#include <algorithm>
#include <chrono>
#include <random>

namespace piracema::smr {

namespace {

// Grows beyond restarts.
Sequence number_by_clock() {
  return static_cast<Sequence>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

std::uint64_t draw_life() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

View view_of(const Configuration& configuration) {
  View view;
  view.model = fault_model(configuration.byzantine);
  view.f = configuration.f;
  for (const auto& replica : configuration.replicas) {
    if (replica.added) continue;
    view.members.push_back({replica.id, replica.address, replica.public_key});
  }
  std::sort(view.members.begin(), view.members.end(),
            [](const MemberInfo& a, const MemberInfo& b) { return a.id < b.id; });
  return view;
}

std::vector<MemberInfo> added_in(const Configuration& configuration) {
  std::vector<MemberInfo> added;
  for (const auto& replica : configuration.replicas) {
    if (replica.added) added.push_back({replica.id, replica.address, replica.public_key});
  }
  return added;
}

Result<Done> ClientEngine::Keys::use_members(const std::vector<MemberInfo>& members) {
  return prover_.use_members(members);
}

bool ClientEngine::Keys::verify(const MemberInfo& signer, Bytes what, Bytes signature) const {
  const auto key = parse_public_key(signer.public_key);
  return key && verify_signature(*key, what, signature);
}

ClientEngine::ClientEngine(net::Poller& poller, FlushList& flush_list,
                           const Configuration& configuration, ClientId id, const KeyPair& key,
                           const Retry& retry)
    : poller_(poller),
      flush_list_(flush_list),
      self_{configuration.name, {PeerName::Role::client, id}, key},
      keys_(key, fault_model(configuration.byzantine)),
      machine_({.id = id,
                .operation_bytes_max = configuration.operation_bytes_max,
                .retry = retry,
                .first_number = number_by_clock(),
                .life = draw_life()},
               view_of(configuration), added_in(configuration), keys_) {
  step(client::Tick{});
}

ClientEngine::~ClientEngine() {
  if (tick_) poller_.cancel(*tick_);
  if (soon_) poller_.cancel(*soon_);
}

// ---- what is asked for ----------------------------------------------------------------------

client::Ticket ClientEngine::ticket_for(Done done) {
  waiting_.emplace(++tickets_, std::move(done));
  return tickets_;
}

void ClientEngine::order(Kind kind, std::uint32_t group, Buffer operation, Time deadline,
                         Done done) {
  step(client::OrderWanted{ticket_for(std::move(done)), kind, group, std::move(operation),
                           deadline});
}

void ClientEngine::read(Buffer operation, Time deadline, Done done) {
  step(client::ReadWanted{ticket_for(std::move(done)), std::move(operation), deadline, false});
}

void ClientEngine::hold(Buffer operation, Time deadline, Done done) {
  step(client::ReadWanted{ticket_for(std::move(done)), std::move(operation), deadline, true});
}

void ClientEngine::close(Time deadline, std::function<void()> done) {
  if (!machine_.is_in_session()) {
    poller_.at(now(), std::move(done));
    return;
  }
  order(Kind::close, 0, {}, deadline, [done = std::move(done)](Result<Buffer>) { done(); });
}

// ---- what the machine is told, and wants ----------------------------------------------------

void ClientEngine::step(client::Event event) {
  machine_.step(now(), std::move(event), actions_);
  for (client::Action& action : actions_) {
    std::visit([this](auto& one) { act(one); }, action);
  }
  actions_.clear();
  if (!answers_.empty() || !calls_.empty()) soon();
  plan_tick();
}

void ClientEngine::happened(client::Event event) {
  step(std::move(event));
  tell_answers();
}

void ClientEngine::act(client::Send& send) {
  const auto found = callers_.find(send.to);
  if (found == callers_.end()) return;
  if (Link* link = found->second->link()) link->send(send.kind, *send.message);
}

void ClientEngine::tell_answers() {
  while (!answers_.empty()) {
    client::Answer answer = std::move(answers_.front());
    answers_.pop_front();
    const auto found = waiting_.find(answer.ticket);
    const Done done = std::move(found->second);
    waiting_.erase(found);
    done(std::move(answer.result));
  }
}

void ClientEngine::soon() {
  if (soon_) return;
  soon_ = poller_.at(now(), [this] {
    soon_.reset();
    change_calls();
    tell_answers();
  });
}

void ClientEngine::plan_tick() {
  const auto deadline = machine_.next_deadline();
  if (deadline == tick_at_) return;
  if (tick_) poller_.cancel(*std::exchange(tick_, std::nullopt));
  tick_at_ = deadline;
  if (!deadline) return;
  tick_ = poller_.at(*deadline, [this] {
    tick_.reset();
    tick_at_.reset();
    happened(client::Tick{});
  });
}

// ---- connections ----------------------------------------------------------------------------

// Not from within what a caller has called: it may be one that goes.
void ClientEngine::change_calls() {
  for (; !calls_.empty(); calls_.pop_front()) {
    if (const auto* connect = std::get_if<client::Connect>(&calls_.front())) {
      call(connect->replica);
    } else {
      callers_.erase(std::get<client::Disconnect>(calls_.front()).replica);
    }
  }
}

void ClientEngine::call(const MemberInfo& replica) {
  const ReplicaId id = replica.id;
  const auto key = parse_public_key(replica.public_key);
  const auto address = net::HostPort::parse(replica.address);
  if (!key || !address) return;  // Of a later view, which its members took all the same.
  Link::Events events;
  events.known = [this, id](Link&) { happened(client::LinkUp{id}); };
  events.received = [this, id](Link&, std::uint8_t kind, Bytes message) {
    happened(client::Heard{id, kind, message});
  };
  callers_[id] = std::make_unique<Caller>(
      poller_, flush_list_, self_, Caller::Whom{{PeerName::Role::replica, id}, *key, *address},
      std::move(events), Link::Limits{}, [this, id](const Error& why, bool is_refused) {
        happened(client::LinkDown{id, why.message, is_refused});
      });
}

}  // namespace piracema::smr
