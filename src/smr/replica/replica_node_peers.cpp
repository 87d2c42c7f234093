#include <map>

#include "base/log.h"
#include "base/text.h"
#include "smr/client/client_engine.h"
#include "smr/replica/replica_node.h"

/// Whom a replica speaks to: members, and clients.
namespace piracema::smr {

Result<Done> ReplicaNode::listen() {
  Link::Limits limits;
  clients_ = std::make_unique<ClientPort>(
      view_.model, configuration_.operation_bytes_max,
      ClientPort::Host{
          [this](Request request) { submit(std::move(request)); },
          [this](Request request) {
            if (!authenticator_.verify(request)) return;
            answer_again(std::move(request),
                         [this](Request fresh) { inbox_.push_back(Submitted{std::move(fresh)}); });
          },
          [this](std::uint64_t token, Buffer operation) { read(token, std::move(operation)); },
          [this] {
            std::vector<Buffer> views;
            for (SignedView& view : core_->signed_views()) {
              views.push_back(encode(*message(std::move(view))).head);
            }
            return views;
          },
          [this] {
            StatusTold told = status();
            return wire::encode(told);
          },
          [this](std::uint64_t token, Buffer operation) {
            held_reads_.add(token, std::move(operation), now());
          }});
  peers_ = std::make_unique<PeerLinks>(
      poller_, flush_list_, self_,
      PeerLinks::Events{[this](ReplicaId from, std::uint8_t kind, Bytes message) {
                          received(from, kind, message);
                        },
                        [this](ReplicaId peer, bool up) { link_changed(peer, up); }},
      limits);
  Door::Host host;
  host.key_of = [this](const PeerName& name) { return key_of(name); };
  host.leader = [this] {
    LeaderAnswer answer{core_->view().id, core_->regency(), core_->leader(), ""};
    for (const MemberInfo& member : core_->view().members) {
      if (member.id == answer.leader) answer.address = member.address;
    }
    return answer;
  };
  host.is_member_address = [this](const std::string& host_name) {
    return member_hosts_.contains(host_name);
  };
  host.known = [this](std::shared_ptr<Link> link) { welcome(std::move(link)); };
  host.received = [this](Link& link, std::uint8_t kind, Bytes message) {
    if (link.peer().role == PeerName::Role::client) return clients_->received(link, kind, message);
    peers_->received(link, kind, message);
  };
  host.lost = [this](Link& link, const Error& why) {
    if (link.peer().role == PeerName::Role::client) return clients_->lost(link);
    peers_->lost(link, why);
  };
  std::string address;
  for (const auto& replica : configuration_.replicas) {
    if (replica.id == place_.id) address = place_.listen.empty() ? replica.address : place_.listen;
  }
  auto door = Door::open(poller_, flush_list_, turns_, self_, address, std::move(host), limits);
  if (!door) return door.error();
  door_ = *std::move(door);
  return use_peers(reachable());
}

Result<Done> ReplicaNode::use_peers(const std::vector<MemberInfo>& members) {
  member_hosts_.clear();
  for (const MemberInfo& member : members) {
    if (const auto address = net::Address::parse(member.address)) {
      member_hosts_.insert(address->host());
    }
  }
  return peers_->use_members(members);
}

std::vector<MemberInfo> ReplicaNode::reachable() const {
  std::map<ReplicaId, MemberInfo> all = learners_;
  for (const MemberInfo& one : added_in(configuration_)) all[one.id] = one;
  for (const MemberInfo& one : newest_view_.members) all[one.id] = one;
  for (const MemberInfo& one : view_.members) all[one.id] = one;
  std::vector<MemberInfo> members;
  for (auto& [id, one] : all) members.push_back(std::move(one));
  return members;
}

void ReplicaNode::meet_members() {
  // A replica that was taken out has nothing to say to the others; clients it sends to them.
  const bool gone = was_member_ && !view_.has(place_.id) && !newest_view_.has(place_.id);
  const std::vector<MemberInfo> others = gone ? std::vector<MemberInfo>{} : reachable();
  auto done = authenticator_.use_members(others);
  know_processes(others);
  if (done) done = use_peers(others);
  if (!done) log(Level::warning, concat("view ", newest_view_.id, ": ", done.error().message));
}

// The process of each replica is a client that has its key.
void ReplicaNode::know_processes(const std::vector<MemberInfo>& members) {
  if (configuration_.byzantine) return;
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

bool ReplicaNode::admit_learner(const Admission& one) {
  if (one.client < learner_base || one.client >= local_client_base) return false;
  const std::uint64_t number = one.client - learner_base;
  const auto id = static_cast<ReplicaId>(number);
  if (id != number || id == place_.id) return false;
  if (one.public_key.empty()) return learners_.erase(id) != 0;
  learners_[id] = {id, "", one.public_key};
  if (!view_.has(id)) log(Level::info, concat("replica ", id, " may fetch the state"));
  return true;
}

void ReplicaNode::admit(const std::vector<Admission>& some) {
  bool learners = false;
  for (const Admission& one : some) learners |= admit_learner(one);
  if (learners && peers_) meet_members();
  for (const Admission& one : some) {
    if (one.client >= learner_base) continue;  // Replicas; nobody has another's key for these.
    const auto key = parse_public_key(one.public_key);
    const auto before = authenticator_.key_of_client(one.client);
    if (key) {
      authenticator_.admit({one.client, *key});
    } else {
      authenticator_.dismiss(one.client);
    }
    // Links that were made with another key, or with one that counts no more.
    if (clients_ && before && (!key || *before != *key)) clients_->dismiss(one.client);
    log(Level::info, concat("client ", one.client, key ? " is admitted" : " is dismissed"));
  }
}

void ReplicaNode::welcome(std::shared_ptr<Link> link) {
  if (link->peer().role == PeerName::Role::client) {
    link->read_in_turn(&turns_, to_text(link->peer()));
    return clients_->take(std::move(link));
  }
  if (!peers_->take(link)) link->close();
}

}  // namespace piracema::smr
