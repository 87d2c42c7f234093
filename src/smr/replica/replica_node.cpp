#include "smr/replica/replica_node.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "smr/client/client_engine.h"
#include "smr/service/executor/make_executor.h"
#include "wire/fields.h"

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

Settings settings_of(const Configuration& configuration) {
  Settings settings;
  settings.request_timeout = configuration.request_timeout;
  settings.silence_timeout = configuration.leader_timeout;
  settings.heartbeat_interval =
      std::clamp(configuration.leader_timeout / 6, milliseconds(5), milliseconds(50));
  settings.checkpoint_interval = configuration.checkpoint_every;
  settings.operation_bytes = configuration.operation_bytes_max;
  settings.batch_bytes = std::max(settings.batch_bytes, settings.operation_bytes);
  // Beyond what is taken from a client before it has its answers: one record more.
  settings.client_requests = 4'096;
  settings.client_bytes = std::max(settings.client_bytes, 4 * settings.operation_bytes);
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
      authenticator_(fault_model(configuration.byzantine), place_.id, place_.key,
                     clients_of(configuration), administrator_of(configuration)),
      own_(place_.id, place_.key,
           {[this] { poller_.post([this] { own_.take(now()); }); },
            [this](Request request) { submit_own(std::move(request)); },
            [this](Request request) {
              answer_again(std::move(request),
                           [this](Request fresh) { submit_own(std::move(fresh)); });
            },
            [this](std::uint64_t token, Buffer operation) { read(token, std::move(operation)); }}),
      held_reads_(dynamic_cast<const Watchable*>(&machine)) {
  if (configuration.byzantine) {
    own_.close({Errc::refused,
                "what one replica has executed is no answer where it may lie: ask "
                "by a Client"});
  }
}

// Links first: what they call is destroyed after them.
ReplicaNode::~ReplicaNode() {
  own_.close({Errc::timeout, "the replica is gone; it may be executed all the same"});
  log_.reset();
  disk_thread_.reset();
  door_.reset();
  clients_.reset();
  peers_.reset();
  execution_.reset();
}

Result<Done> ReplicaNode::prepare() {
  auto executor =
      make_executor(machine_, configuration_.execution_threads, place_.groups, place_.prices);
  if (!executor) return executor.error();
  execution_ = std::make_unique<Execution>(
      poller_, machine_, configuration_.execution_threads, *std::move(executor),
      Execution::Host{[this](Reply reply) {
                        if (own_.is_mine(reply)) return own_.reply(reply);
                        clients_->reply(place_.distort_reply ? place_.distort_reply(reply) : reply);
                      },
                      [this](Instance instance, std::optional<std::uint64_t> timer) {
                        inbox_.push_back(Executed{instance, timer});
                        held_reads_.executed();
                        if (place_.applied) place_.applied(instance);
                      },
                      [this](const std::vector<Admission>& some) { admit(some); }});
  const View view = view_of(configuration_);
  auto recovered = open_storage(view);
  if (!recovered) return recovered.error();
  for (const MemberInfo& one : added_in(configuration_)) recovered->added.push_back(one.id);
  view_ = newest_view_ = recovered->view;
  was_member_ = view_.has(place_.id);
  if (auto known = authenticator_.use_members(reachable()); !known) return known;
  know_processes(reachable());
  const auto settings = smr::validate(settings_of(configuration_));
  if (!settings) return settings.error();
  core_ = std::make_unique<Core>(*settings, place_.id, authenticator_, *std::move(recovered));
  return Done{};
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

}  // namespace piracema::smr
