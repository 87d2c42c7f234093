#include "smr/client/client_engine.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/text.h"
#include "wire/fields.h"

namespace piracema::smr {

View view_of(const Configuration& configuration) {
  View view;
  view.model = configuration.byzantine ? FaultModel::byzantine : FaultModel::crash;
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
      view_(view_of(configuration)),
      added_(added_in(configuration)) {
  leader_ = view_.leader(0);
  ENSURE(prover_.use_members(view_.members).ok());  // The configuration is valid.
  connect();
  if (id != administrator_id) open_session();
}

ClientEngine::~ClientEngine() {
  if (timer_) poller_.cancel(*timer_);
  if (reopen_) poller_.cancel(*reopen_);
}

// Besides the members those that the configuration knows to have been added: they are where the
// members may be told of when all whom this client knows have gone.
void ClientEngine::connect() {
  std::map<ReplicaId, std::unique_ptr<Caller>> callers;
  for (const MemberInfo& member : view_.members) call(member, callers);
  for (const MemberInfo& added : added_) {
    if (!view_.has(added.id)) call(added, callers);
  }
  callers_.swap(callers);
}

void ClientEngine::call(const MemberInfo& replica,
                        std::map<ReplicaId, std::unique_ptr<Caller>>& callers) {
  const ReplicaId id = replica.id;
  if (const auto old = callers_.find(id); old != callers_.end()) {
    callers[id] = std::move(old->second);
    return;
  }
  const auto key = parse_public_key(replica.public_key);
  const auto address = net::HostPort::parse(replica.address);
  if (!key || !address) return;  // Of a later view, which its members took all the same.
  Link::Events events;
  events.known = [this, id](Link&) {
    // The link is the caller's only when this has returned.
    poller_.at(now(), [this, id] { known(id); });
  };
  events.received = [this, id](Link&, std::uint8_t kind, Bytes message) {
    received(id, kind, message);
  };
  events.lost = [this, id](Link&, const Error&) {
    told_.erase(id);
    statuses_.erase(id);
    // A leader that is gone leads no more: ask those who are there, at once.
    if (!byzantine_ && id == leader_) resend_all();
  };
  callers[id] = std::make_unique<Caller>(
      poller_, flush_list_, self_, Caller::Whom{{PeerName::Role::replica, id}, *key, *address},
      std::move(events), Link::Limits{});
}

bool ClientEngine::has_arrived(ReplicaId member) const {
  const auto found = told_.find(member);
  return found != told_.end() && found->second.view >= view_.id;
}

std::size_t ClientEngine::arrived() const {
  std::size_t here = 0, further = 0;
  for (const auto& [id, told] : told_) {
    if (!view_.has(id)) continue;
    here += told.view == view_.id;
    further += told.view > view_.id;
  }
  return further < view_.one_correct() ? here : 0;  // Else a proof of the next is on the way.
}

void ClientEngine::meet(const std::vector<MemberInfo>& some) {
  for (const MemberInfo& one : some) {
    const bool known = view_.has(one.id) ||
                       std::any_of(added_.begin(), added_.end(),
                                   [&](const MemberInfo& added) { return added.id == one.id; });
    if (!known) added_.push_back(one);
  }
  connect();
}

std::string ClientEngine::trouble_with(ReplicaId replica) const {
  const auto found = callers_.find(replica);
  if (found == callers_.end() || found->second->link() != nullptr) return "";
  return found->second->why();
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
    send_to(from, kind_of(*asked), wire::encode(ReadHead{token}), asked->request.operation);
  }
}

void ClientEngine::resend_all() {
  each_asked([&](Asked& asked) { send_to_all(submit_kind, asked.encoded); });
  for (const auto& [token, asked] : reads_) {
    send_to_all(kind_of(*asked), wire::encode(ReadHead{token}), asked->request.operation);
  }
}

}  // namespace piracema::smr
