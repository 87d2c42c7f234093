#include "smr/replica/replica_node.h"

#include <malloc.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "smr/client/client_engine.h"
#include "smr/service/executor/make_executor.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

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

std::string address_of(const Configuration& configuration, ReplicaId id) {
  for (const auto& replica : configuration.replicas) {
    if (replica.id == id) return replica.address;
  }
  return "";
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
      known_(configuration, place_.id, place_.key),
      leading_(place_.leads, place_.leads_no_longer),
      own_(place_.id, place_.key,
           {[this] { poller_.post([this] { own_.take(now()); }); },
            [this](Request request) { submit_own(std::move(request)); },
            [this](Request request) {
              answer_again(std::move(request),
                           [this](Request fresh) { submit_own(std::move(fresh)); });
            },
            [this](std::uint64_t token, Buffer operation) { read(token, std::move(operation)); }}) {
  if (configuration.byzantine) {
    own_.close({Errc::refused,
                "what one replica has executed is no answer where it may lie: ask "
                "by a Client"});
  }
}

// Links first: what they call is destroyed after them.
ReplicaNode::~ReplicaNode() {
  own_.close({Errc::timeout, "the replica is gone; it may be executed all the same"});
  kept_.reset();
  door_.reset();
  clients_.reset();
  peers_.reset();
  execution_.reset();
}

Result<Done> ReplicaNode::start_service() {
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
                        reads_->executed();
                        if (place_.applied) place_.applied(instance);
                      },
                      [this](const std::vector<Admission>& some) { admit(some); }});
  reads_ = std::make_unique<ReplicaReads>(
      *execution_, machine_,
      [this](std::uint64_t token, bool known, Bytes result) { answer_read(token, known, result); });
  return Done{};
}

Result<Done> ReplicaNode::prepare() {
  if (auto started = start_service(); !started) return started;
  auto opened = Persistence::open(poller_,
                                  {.me = place_.id,
                                   .group = self_.group,
                                   .directory = place_.directory,
                                   .first_start = place_.first_start,
                                   .began_file = place_.began_file,
                                   .durable = configuration_.durable},
                                  {[this] { outbox_->release(kept_->durable()); },
                                   [this](Error why) { fail(std::move(why)); }});
  if (!opened) return opened.error();
  kept_ = std::move(opened->persistence);
  memory_ =
      std::make_unique<MemoryWatch>(place_.id, kept_->life(), kept_->lost_memory(), memory_host());
  const auto lives = kept_->read_lives();
  const auto remembered = lives ? memory_->restore(*lives) : Result<Done>(lives.error());
  if (!remembered && remembered.error().code != Errc::not_found) {
    log(Level::warning, concat("the file 'lives' cannot be used: ", remembered.error().message));
  }
  Recovered recovered = std::move(opened->recovered);
  recovered.view = known_.view();
  for (const MemberInfo& one : added_in(configuration_)) recovered.added.push_back(one.id);
  if (recovered.checkpoint) {
    auto restored = restore(recovered.checkpoint->instance, std::move(opened->image));
    if (!restored) return restored;
  }
  if (auto met = known_.meet(); !met) return met;
  const auto settings = smr::validate(settings_of(configuration_));
  if (!settings) return settings.error();
  core_ =
      std::make_unique<Core>(*settings, place_.id, known_.authenticator(), std::move(recovered));
  return Done{};
}

// Before the core begins: it goes on behind the checkpoint.
Result<Done> ReplicaNode::restore(Instance instance, Buffer image) {
  std::optional<Result<Done>> outcome;
  execution_->restore(instance, std::make_shared<const Buffer>(std::move(image)),
                      [&](const Result<Done>& done) { outcome = done; });
  while (!outcome) poller_.run_once(std::chrono::milliseconds(-1));
  return *std::move(outcome);
}

// ---- whom it speaks to -------------------------------------------------------------------------

Result<Done> ReplicaNode::listen() {
  const Link::Limits limits;
  clients_ = std::make_unique<ClientPort>(known_.view().model, configuration_.operation_bytes_max,
                                          clients_host());
  peers_ = std::make_unique<PeerLinks>(
      poller_, flush_list_, self_,
      PeerLinks::Events{[this](ReplicaId from, std::uint8_t kind, Bytes message) {
                          received(from, kind, message);
                        },
                        [this](ReplicaId peer, bool up) { link_changed(peer, up); }},
      limits);
  outbox_ = std::make_unique<PeerOutbox>(place_.id, *peers_, inbox_, place_.distort);
  const std::string address = address_of(configuration_, place_.id);
  report_ = std::make_unique<SelfReport>(
      SelfReport::Settings{.me = place_.id, .address = address, .figures = place_.figures}, *core_,
      known_, *peers_, *clients_);
  auto door = Door::open(poller_, flush_list_, turns_, self_,
                         place_.listen.empty() ? address : place_.listen, door_host(), limits);
  if (!door) return door.error();
  door_ = *std::move(door);
  return peers_->use_members(known_.to_meet());
}

ClientPort::Host ReplicaNode::clients_host() {
  ClientPort::Host host;
  host.submit = [this](Request request) { submit(std::move(request)); };
  host.submit_again = [this](Request request) {
    if (!known_.authenticator().verify(request)) return;
    answer_again(std::move(request),
                 [this](Request fresh) { inbox_.push_back(Submitted{std::move(fresh)}); });
  };
  host.read = [this](std::uint64_t token, Buffer operation) { read(token, std::move(operation)); };
  host.signed_views = [this] {
    std::vector<Buffer> views;
    for (SignedView& view : core_->signed_views()) {
      views.push_back(encode(*message(std::move(view))).head);
    }
    return views;
  };
  host.status = [this] { return wire::encode(report_->status()); };
  host.hold = [this](std::uint64_t token, Buffer operation) {
    reads_->hold(token, std::move(operation), now());
  };
  return host;
}

Door::Host ReplicaNode::door_host() {
  Door::Host host;
  host.key_of = [this](const PeerName& name) { return known_.key_of(name); };
  host.leader = [this] {
    LeaderAnswer answer{core_->view().id, core_->regency(), core_->leader(), ""};
    for (const MemberInfo& member : core_->view().members) {
      if (member.id == answer.leader) answer.address = member.address;
    }
    return answer;
  };
  host.is_member_address = [this](const std::string& name) { return known_.is_member_host(name); };
  host.known = [this](std::shared_ptr<Link> link) { welcome(std::move(link)); };
  host.received = [this](Link& link, std::uint8_t kind, Bytes message) {
    if (link.peer().role == PeerName::Role::client) return clients_->received(link, kind, message);
    peers_->received(link, kind, message);
  };
  host.lost = [this](Link& link, const Error& why) {
    if (link.peer().role == PeerName::Role::client) return clients_->lost(link);
    peers_->lost(link, why);
  };
  return host;
}

MemoryWatch::Host ReplicaNode::memory_host() {
  return {
      [this](ReplicaId to, std::uint8_t kind, Bytes message) { peers_->send(to, kind, message); },
      [this](ReplicaId peer) { return peers_->is_up(peer); },
      [this](Buffer lives) { kept_->write_lives(std::move(lives)); },
      [this](Error why) { fail(std::move(why)); }};
}

void ReplicaNode::meet_members() {
  auto done = known_.meet();
  if (done) done = peers_->use_members(known_.to_meet());
  if (done) return;
  log(Level::warning, concat("view ", known_.newest_view().id, ": ", done.error().message));
}

void ReplicaNode::admit(const std::vector<Admission>& some) {
  const KnownPeers::Admitted admitted = known_.admit(some);
  if (admitted.learners && peers_) meet_members();
  if (!clients_) return;
  for (const ClientId client : admitted.other_keys) clients_->dismiss(client);
}

void ReplicaNode::welcome(std::shared_ptr<Link> link) {
  if (link->peer().role == PeerName::Role::client) {
    link->read_in_turn(&turns_, to_text(link->peer()));
    return clients_->take(std::move(link));
  }
  if (!peers_->take(link)) link->close();
}

void ReplicaNode::link_changed(ReplicaId peer, bool up) {
  if (up) return memory_->connected(peer, core_->is_silent());
  inbox_.push_back(LinkLost{peer});
}

// ---- the loop --------------------------------------------------------------------------------

Result<Done> ReplicaNode::run() {
  step(Tick{});
  recall_views();
  while (!stopped_ && !failure_) {
    step_all();
    tell_standing();
    kept_->kick();
    flush_list_.flush();
    if (failure_) break;
    // Members are read by that; clients only after it.
    poller_.run_once(time_to_wait());
    turns_.run(clients_time);
  }
  own_.close({Errc::timeout, "the replica has ended; it may be executed all the same"});
  if (failure_) return *failure_;
  return Done{};
}

void ReplicaNode::invoke(bool ordered, Bytes operation, Invoker::Callback done) {
  own_.ask(ordered, Buffer(operation), now() + Time(place_.operation_timeout), std::move(done));
}

void ReplicaNode::stop() {
  poller_.post([this] { stopped_ = true; });
}

std::chrono::milliseconds ReplicaNode::time_to_wait() const {
  using std::chrono::milliseconds;
  if (!inbox_.empty() || !turns_.empty()) return milliseconds(0);
  auto deadline = core_->next_deadline();
  if (const auto look = reads_->next_look()) deadline = std::min(deadline.value_or(*look), *look);
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
  reads_->look(time);
  if (time - port_tick_ < port_tick_interval) return;
  port_tick_ = time;
  clients_->tick(time);
  own_.tick(time);
  if (flood_.is_over(clients_->bytes())) ::malloc_trim(0);
  memory_->tick(time, known_.view(), core_->is_silent());
  report_->tick(time);
  if (leave_at_ && time >= *leave_at_) stopped_ = true;
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
  report_->work().follows(now(), core_->leader());
  clients_->set_standing({core_->view().id, core_->regency(), core_->leader()});
  leading_.see(core_->leads(), core_->view().id, core_->regency());
}

// Views that were signed in an earlier life of this process are not told again.
void ReplicaNode::recall_views() {
  const std::vector<SignedView> known = core_->signed_views();
  if (!known.empty() && known_.prove(known.back().view)) meet_members();
}

void ReplicaNode::submit(Request request) {
  if (known_.authenticator().verify(request)) inbox_.push_back(Submitted{std::move(request)});
}

// The leader has it at once, and not only when this replica's patience with it ends.
void ReplicaNode::submit_own(Request request) {
  if (core_->leader() != place_.id) outbox_->send(core_->leader(), message(Forward{{request}}));
  inbox_.push_back(Submitted{std::move(request)});
}

void ReplicaNode::answer_again(Request request, std::function<void(Request)> submit_it) {
  execution_->answer_again(std::move(request), std::move(submit_it));
}

void ReplicaNode::read(std::uint64_t token, Buffer operation) {
  reads_->add(token, std::move(operation));
  inbox_.push_back(ReadAsked{token});
}

void ReplicaNode::answer_read(std::uint64_t token, bool known, Bytes result) {
  if (token >= local_client_base) return own_.read_reply(token, known, result);
  clients_->read_reply(token, known, result);
}

void ReplicaNode::received(ReplicaId from, std::uint8_t kind, Bytes bytes) {
  if (kind != replica_message_kind) {
    memory_->received(from, kind, bytes, known_.view());
    return;
  }
  if (memory_->is_forgetful(from)) return;
  auto message = decode_message(bytes);
  if (message) {
    inbox_.push_back(Received{from, *std::move(message)});
  } else {
    nonsense_.log(Level::warning, concat("replica ", from,
                                         " sent what no replica sends: ", message.error().message));
  }
}

void ReplicaNode::fail(Error why) {
  if (!failure_) failure_ = std::move(why);
}

// ---- what the core wants ---------------------------------------------------------------------

void ReplicaNode::act(Persist& persist) {
  if (const auto* known = std::get_if<ViewSigned>(&persist.record)) {
    clients_->tell_view(encode(*message(known->view)).head);
    if (known_.prove(known->view.view)) meet_members();
  }
  kept_->append(persist.record);
}

void ReplicaNode::act(Send& send) {
  if (send.after_log && kept_->durable() < kept_->appended()) {
    outbox_->send_after(kept_->appended(), send.to, std::move(send.message));
  } else {
    outbox_->send(send.to, send.message);
  }
}

void ReplicaNode::act(Execute& execute) {
  report_->work().executed(execute.batch->requests.size());
  execution_->execute(std::move(execute));
}

void ReplicaNode::act(ReadNow& read) {
  if (reads_->execute(read.token)) report_->work().read();
}

void ReplicaNode::act(Refuse& refuse) { reads_->refuse(refuse.token); }

void ReplicaNode::act(TakeCheckpoint& due) {
  report_->work().checkpoint_begun(now());
  const auto taken = [this](const Checkpoint& checkpoint) {
    kept_->keep(checkpoint, [this, info = checkpoint.info, digests = checkpoint.digests] {
      report_->work().checkpoint_taken(now(), info.bytes);
      inbox_.push_back(CheckpointTaken{info, digests});
    });
  };
  execution_->take_checkpoint(due, kept_->pieces(), taken, [this, instance = due.instance] {
    inbox_.push_back(CheckpointSkipped{instance});
  });
}

void ReplicaNode::act(Truncate& truncate) {
  execution_->stable(truncate.instance);
  kept_->truncate(truncate);
}

void ReplicaNode::act(SendChunk& send) {
  kept_->find(
      send.instance, send.chunk,
      [this, to = send.to, instance = send.instance, number = send.chunk](Shelf::Chunk chunk) {
        outbox_->send(to, message(Chunk{instance, number, std::move(chunk)}));
      });
}

void ReplicaNode::act(StoreChunk& store) { kept_->store(store); }

void ReplicaNode::act(LoadCheckpoint& load) {
  kept_->load(load.checkpoint,
              [this, instance = load.checkpoint.instance](const Result<Shelf::Chunk>& image) {
                const auto loaded = [this, instance](const Result<Done>& done) {
                  inbox_.push_back(CheckpointLoaded{instance, done ? "" : done.error().message});
                };
                if (!image) return loaded(image.error());
                execution_->restore(instance, *image, loaded);
              });
}

void ReplicaNode::act(TellTrail& tell) {
  execution_->tell_trail(tell.asked, [this, to = tell.to](Trail trail) {
    outbox_->send(to, message(std::move(trail)));
  });
}

void ReplicaNode::act(UseView& use) {
  if (!known_.use(use.view)) {
    log(Level::info,
        concat("view ", use.view.id, " is without this replica: it was removed, and ends"));
    leave_at_ = now() + leave_time;
  }
  meet_members();
}

void ReplicaNode::act(Note& note) { log(note.warning ? Level::warning : Level::info, note.text); }

void ReplicaNode::act(Halt& halt) { fail({Errc::failed, halt.why}); }

}  // namespace piracema::smr
