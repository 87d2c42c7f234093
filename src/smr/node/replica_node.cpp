#include "smr/node/replica_node.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "smr/node/client_engine.h"
#include "smr/service/make_executor.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

FaultModel model_of(const Configuration& configuration) {
  return configuration.byzantine ? FaultModel::byzantine : FaultModel::crash;
}

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

Settings settings_of(const Configuration& configuration) {
  Settings settings;
  settings.request_timeout = configuration.request_timeout;
  settings.silence_timeout = configuration.leader_timeout;
  settings.heartbeat_interval =
      std::clamp(configuration.leader_timeout / 6, milliseconds(5), milliseconds(50));
  settings.checkpoint_interval = configuration.checkpoint_every;
  settings.operation_bytes = configuration.operation_bytes_max;
  settings.batch_bytes = std::max(settings.batch_bytes, settings.operation_bytes);
  settings.pool_bytes = std::max(settings.pool_bytes, 4 * settings.operation_bytes);
  return settings;
}

}  // namespace

Result<std::unique_ptr<ReplicaNode>> ReplicaNode::start(const Configuration& configuration,
                                                        Place place, StateMachine& machine) {
  if (auto valid = validate(configuration); !valid) return valid.error();
  const auto mine = std::find_if(configuration.replicas.begin(), configuration.replicas.end(),
                                 [&](const auto& replica) { return replica.id == place.id; });
  if (mine == configuration.replicas.end()) {
    return Error{Errc::config, concat("replica ", place.id, " is not in the configuration")};
  }
  if (*parse_public_key(mine->public_key) != place.key.public_key()) {
    return Error{Errc::config,
                 concat("the key of replica ", place.id, " is ", mine->public_key,
                        " in the configuration, this one is ", hex_of(place.key.public_key()))};
  }
  std::unique_ptr<ReplicaNode> node(new ReplicaNode(configuration, std::move(place), machine));
  if (auto prepared = node->prepare(); !prepared) return prepared.error();
  if (auto listening = node->listen(); !listening) return listening.error();
  return node;
}

ReplicaNode::ReplicaNode(const Configuration& configuration, Place place, StateMachine& machine)
    : configuration_(configuration),
      place_(std::move(place)),
      self_{configuration.name, {PeerName::Role::replica, place_.id}, place_.key},
      machine_(machine),
      authenticator_(model_of(configuration), place_.id, place_.key, clients_of(configuration),
                     administrator_of(configuration)) {}

// Links first: what they call is destroyed after them.
ReplicaNode::~ReplicaNode() {
  log_.reset();
  disk_thread_.reset();
  door_.reset();
  clients_.reset();
  peers_.reset();
  execution_.reset();
}

// ---- beginning -------------------------------------------------------------------------------

Result<Done> ReplicaNode::prepare() {
  auto executor = make_executor(machine_, configuration_.execution_threads, place_.groups);
  if (!executor) return executor.error();
  execution_ = std::make_unique<Execution>(
      poller_, machine_, configuration_.execution_threads, *std::move(executor),
      Execution::Host{[this](Reply reply) {
                        clients_->reply(place_.distort_reply ? place_.distort_reply(reply) : reply);
                      },
                      [this](Instance instance) { inbox_.push_back(Executed{instance}); },
                      [this](const std::vector<Admission>& some) { admit(some); }});
  const View view = view_of(configuration_);
  auto recovered = open_storage(view);
  if (!recovered) return recovered.error();
  view_ = newest_view_ = recovered->view;
  was_member_ = view_.has(place_.id);
  if (auto known = authenticator_.use_members(reachable()); !known) return known;
  const auto settings = smr::validate(settings_of(configuration_));
  if (!settings) return settings.error();
  core_ = std::make_unique<Core>(*settings, place_.id, authenticator_, *std::move(recovered));
  return Done{};
}

Result<Done> ReplicaNode::listen() {
  Link::Limits limits;
  clients_ = std::make_unique<ClientPort>(
      model_of(configuration_), configuration_.operation_bytes_max,
      ClientPort::Host{[this](Request request) { submit(std::move(request)); },
                       [this](Request request) {
                         if (!authenticator_.verify(request)) return;
                         execution_->answer_again(std::move(request), [this](Request fresh) {
                           inbox_.push_back(Submitted{std::move(fresh)});
                         });
                       },
                       [this](std::uint64_t token, Buffer operation) {
                         reads_[token] = std::move(operation);
                         inbox_.push_back(ReadAsked{token});
                       },
                       [this] {
                         std::vector<Buffer> views;
                         for (SignedView& view : core_->signed_views()) {
                           views.push_back(encode(*message(std::move(view))).head);
                         }
                         return views;
                       }});
  peers_ = std::make_unique<PeerLinks>(
      poller_, flush_list_, self_,
      PeerLinks::Events{[this](ReplicaId from, Bytes message) { received(from, message); },
                        [this](ReplicaId peer, bool up) {
                          if (!up) inbox_.push_back(LinkLost{peer});
                        }},
      limits);
  Door::Host host;
  host.key_of = [this](const PeerName& name) { return key_of(name); };
  host.known = [this](std::shared_ptr<Link> link) { welcome(std::move(link)); };
  host.received = [this](Link& link, std::uint8_t kind, Bytes message) {
    if (link.peer().role == PeerName::Role::client) return clients_->received(link, kind, message);
    if (kind == replica_message_kind) peers_->received(link, message);
  };
  host.lost = [this](Link& link, const Error& why) {
    if (link.peer().role == PeerName::Role::client) return clients_->lost(link);
    peers_->lost(link, why);
  };
  std::string address;
  for (const auto& replica : configuration_.replicas) {
    if (replica.id == place_.id) address = replica.address;
  }
  auto door = Door::open(poller_, flush_list_, self_, address, std::move(host), limits);
  if (!door) return door.error();
  door_ = *std::move(door);
  return peers_->use_members(reachable());
}

std::vector<MemberInfo> ReplicaNode::reachable() const {
  std::map<ReplicaId, MemberInfo> all;
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
  if (done) done = peers_->use_members(others);
  if (!done) log(Level::warning, concat("view ", newest_view_.id, ": ", done.error().message));
}

std::optional<PublicKey> ReplicaNode::key_of(const PeerName& name) const {
  if (name.role == PeerName::Role::client) {
    // The administrator comes as client 0.
    if (name.id == administrator_id) return administrator_of(configuration_);
    return authenticator_.key_of_client(name.id);
  }
  for (const MemberInfo& one : reachable()) {
    if (one.id == name.id) return authenticator_.key_of(one.id);
  }
  return std::nullopt;
}

void ReplicaNode::admit(const std::vector<Admission>& some) {
  for (const Admission& one : some) {
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
  if (link->peer().role == PeerName::Role::client) return clients_->take(std::move(link));
  if (!peers_->take(link)) link->close();
}

}  // namespace piracema::smr
