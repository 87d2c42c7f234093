#include "smr/replica/known_peers.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "net/socket/address.h"
#include "smr/client/client_engine.h"
#include "smr/replica/local_client.h"

namespace piracema::smr {

namespace {

std::vector<KeyAuthenticator::Client> clients_of(const Configuration& configuration) {
  std::vector<KeyAuthenticator::Client> clients;
  for (const auto& client : configuration.clients) {
    clients.push_back({client.id, *parse_public_key(client.public_key)});
  }
  return clients;
}

std::optional<PublicKey> administrator_of(const Configuration& configuration) {
  if (configuration.administrator.empty()) return std::nullopt;
  return *parse_public_key(configuration.administrator);
}

}  // namespace

KnownPeers::KnownPeers(const Configuration& configuration, ReplicaId me, const KeyPair& key)
    : me_(me),
      administrator_(administrator_of(configuration)),
      added_(added_in(configuration)),
      authenticator_(fault_model(configuration.byzantine), me, key, clients_of(configuration),
                     administrator_),
      view_(view_of(configuration)),
      newest_view_(view_),
      was_member_(view_.has(me)) {}

bool KnownPeers::use(const View& view) {
  view_ = view;
  if (view_.id > newest_view_.id) newest_view_ = view_;
  if (was_member_ && !view_.has(me_)) return false;
  was_member_ = was_member_ || view_.has(me_);
  return true;
}

bool KnownPeers::prove(const View& view) {
  if (view.id <= newest_view_.id) return false;
  newest_view_ = view;
  return true;
}

std::vector<MemberInfo> KnownPeers::reachable() const {
  std::map<ReplicaId, MemberInfo> all = learners_;
  for (const MemberInfo& one : added_) all[one.id] = one;
  for (const MemberInfo& one : newest_view_.members) all[one.id] = one;
  for (const MemberInfo& one : view_.members) all[one.id] = one;
  std::vector<MemberInfo> members;
  for (auto& [id, one] : all) members.push_back(std::move(one));
  return members;
}

std::vector<MemberInfo> KnownPeers::to_meet() const {
  const bool gone = was_member_ && !view_.has(me_) && !newest_view_.has(me_);
  return gone ? std::vector<MemberInfo>{} : reachable();
}

Result<Done> KnownPeers::meet() {
  const std::vector<MemberInfo> others = to_meet();
  auto done = authenticator_.use_members(others);
  know_processes(others);
  if (!done) return done;
  member_hosts_.clear();
  for (const MemberInfo& member : others) {
    if (const auto address = net::Address::parse(member.address)) {
      member_hosts_.insert(address->host());
    }
  }
  return done;
}

// The process of each replica is a client that has its key.
void KnownPeers::know_processes(const std::vector<MemberInfo>& members) {
  if (view_.model == FaultModel::byzantine) return;
  std::set<ReplicaId> gone = std::exchange(processes_, {});
  for (const MemberInfo& one : members) {
    const auto key = parse_public_key(one.public_key);
    if (!key || one.address.empty()) continue;
    authenticator_.admit({local_client_of(one.id), *key});
    processes_.insert(one.id);
    gone.erase(one.id);
  }
  for (const ReplicaId one : gone) authenticator_.dismiss(local_client_of(one));
}

bool KnownPeers::admit_learner(const Admission& one) {
  if (one.client < learner_base || one.client >= local_client_base) return false;
  const std::uint64_t number = one.client - learner_base;
  const auto id = static_cast<ReplicaId>(number);
  if (id != number || id == me_) return false;
  if (one.public_key.empty()) return learners_.erase(id) != 0;
  learners_[id] = {id, "", one.public_key};
  if (!view_.has(id)) log(Level::info, concat("replica ", id, " may fetch the state"));
  return true;
}

KnownPeers::Admitted KnownPeers::admit(const std::vector<Admission>& some) {
  Admitted admitted;
  for (const Admission& one : some) {
    // Replicas have numbers of their own; nobody has another's key for these.
    if (one.client >= learner_base) {
      admitted.learners |= admit_learner(one);
      continue;
    }
    const auto key = parse_public_key(one.public_key);
    const auto before = authenticator_.key_of_client(one.client);
    if (key) {
      authenticator_.admit({one.client, *key});
    } else {
      authenticator_.dismiss(one.client);
    }
    if (before && (!key || *before != *key)) admitted.other_keys.push_back(one.client);
    log(Level::info, concat("client ", one.client, key ? " is admitted" : " is dismissed"));
  }
  return admitted;
}

std::optional<PublicKey> KnownPeers::key_of(const PeerName& name) const {
  if (name.role == PeerName::Role::client) {
    // The administrator comes as client 0.
    return name.id == administrator_id ? administrator_ : authenticator_.key_of_client(name.id);
  }
  for (const MemberInfo& one : reachable()) {
    if (one.id == name.id) return authenticator_.key_of(one.id);
  }
  return std::nullopt;
}

}  // namespace piracema::smr
