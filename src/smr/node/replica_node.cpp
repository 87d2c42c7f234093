#include "smr/node/replica_node.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "smr/node/client_engine.h"
#include "smr/service/make_executor.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

constexpr std::chrono::milliseconds port_tick_interval{100};

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
      Execution::Host{[this](Reply reply) { clients_->reply(reply); },
                      [this](Instance instance) { inbox_.push_back(Executed{instance}); }});
  const View view = view_of(configuration_);
  auto recovered = open_storage(view);
  if (!recovered) return recovered.error();
  view_ = recovered->view;
  if (auto known = authenticator_.use_members(view.members); !known) return known;
  if (auto known = authenticator_.use_members(view_.members); !known) return known;
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
  for (const MemberInfo& member : view_.members) {
    if (member.id == place_.id) address = member.address;
  }
  if (address.empty()) {
    return Error{Errc::config, concat("replica ", place_.id, " was taken out of the group")};
  }
  auto door = Door::open(poller_, flush_list_, self_, address, std::move(host), limits);
  if (!door) return door.error();
  door_ = *std::move(door);
  return peers_->use_members(view_.members);
}

std::optional<PublicKey> ReplicaNode::key_of(const PeerName& name) const {
  if (name.role == PeerName::Role::client) {
    // The administrator comes as client 0.
    if (name.id == 0) return administrator_of(configuration_);
    return authenticator_.key_of_client(name.id);
  }
  if (name.id > ~ReplicaId{0} || !view_.has(static_cast<ReplicaId>(name.id))) return std::nullopt;
  return authenticator_.key_of(static_cast<ReplicaId>(name.id));
}

void ReplicaNode::welcome(std::shared_ptr<Link> link) {
  if (link->peer().role == PeerName::Role::client) return clients_->take(std::move(link));
  if (!peers_->take(link)) link->close();
}

// ---- the loop --------------------------------------------------------------------------------

Result<Done> ReplicaNode::run() {
  step(Tick{});
  while (!stopped_ && !failure_) {
    step_all();
    tell_standing();
    if (log_) log_->kick();
    flush_list_.flush();
    if (failure_) break;
    poller_.run_once(time_to_wait());
  }
  if (failure_) return *failure_;
  return Done{};
}

void ReplicaNode::stop() {
  poller_.post([this] { stopped_ = true; });
}

std::chrono::milliseconds ReplicaNode::time_to_wait() const {
  using std::chrono::milliseconds;
  if (!inbox_.empty()) return milliseconds(0);
  const auto deadline = core_->next_deadline();
  if (!deadline) return port_tick_interval;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - now());
  return std::clamp(left, milliseconds(0), port_tick_interval);
}

// The core is told of everything that has come before it is told that it is time: so a batch has
// all of it.
void ReplicaNode::step_all() {
  do {
    while (!inbox_.empty()) {
      looked_at_.swap(inbox_);
      for (Event& event : looked_at_) step(std::move(event));
      looked_at_.clear();
      execution_->run();
    }
    const auto deadline = core_->next_deadline();
    if (deadline && *deadline <= now()) step(Tick{});
    execution_->run();
  } while (!inbox_.empty() && !failure_);
  const Time time = now();
  if (time - port_tick_ < port_tick_interval) return;
  port_tick_ = time;
  clients_->tick(time);
}

void ReplicaNode::step(Event event) {
  if (failure_) return;
  core_->step(now(), std::move(event), actions_);
  for (Action& action : actions_) {
    std::visit([this](auto& one) { act(one); }, action);
  }
  actions_.clear();
}

void ReplicaNode::tell_standing() {
  clients_->set_standing({core_->view().id, core_->regency(), core_->leader()});
}

void ReplicaNode::submit(Request request) {
  if (authenticator_.verify(request)) inbox_.push_back(Submitted{std::move(request)});
}

void ReplicaNode::received(ReplicaId from, Bytes bytes) {
  auto message = decode_message(bytes);
  if (message) {
    inbox_.push_back(Received{from, *std::move(message)});
  } else {
    log(Level::warning,
        concat("replica ", from, " sent what no replica sends: ", message.error().message));
  }
}

void ReplicaNode::fail(Error why) {
  if (!failure_) failure_ = std::move(why);
}

// ---- what the core wants ---------------------------------------------------------------------

void ReplicaNode::act(Send& send) {
  if (send.after_log && log_ && durable_ < log_->appended()) {
    held_.push_back({log_->appended(), send.to, std::move(send.message)});
  } else {
    send_now(send.to, send.message);
  }
}

void ReplicaNode::send_now(ReplicaId to, const MessagePtr& message) {
  if (to == place_.id) {
    inbox_.push_back(Received{to, message});
    return;
  }
  if (encoded_of_ != message) {
    encoded_ = encode(*message);
    encoded_of_ = message;
  }
  peers_->send(to, encoded_.head, encoded_.body ? Bytes(*encoded_.body) : Bytes());
}

void ReplicaNode::release_held() {
  while (!held_.empty() && held_.front().after <= durable_) {
    const Held held = std::move(held_.front());
    held_.pop_front();
    send_now(held.to, held.message);
  }
}

void ReplicaNode::act(Execute& execute) { execution_->execute(std::move(execute)); }

void ReplicaNode::act(ReadNow& read) {
  const auto found = reads_.find(read.token);
  if (found == reads_.end()) return;
  Buffer operation = std::move(found->second);
  reads_.erase(found);
  execution_->query(std::move(operation), [this, token = read.token](const Buffer& result) {
    clients_->read_reply(token, true, result);
  });
}

void ReplicaNode::act(Refuse& refuse) {
  reads_.erase(refuse.token);
  clients_->read_reply(refuse.token, false, {});
}

void ReplicaNode::act(UseView& use) {
  view_ = use.view;
  auto done = authenticator_.use_members(view_.members);
  if (done) done = peers_->use_members(view_.members);
  if (!done) log(Level::warning, concat("view ", view_.id, ": ", done.error().message));
}

void ReplicaNode::act(Note& note) { log(note.warning ? Level::warning : Level::info, note.text); }

void ReplicaNode::act(Halt& halt) { fail({Errc::failed, halt.why}); }

}  // namespace piracema::smr
