#include "sim/smr/world.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "smr/link/client_wire.h"
#include "smr/order/transfer/checkpoints.h"
#include "smr/service/checkpoint_spacing.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Once nothing goes wrong any more: for the last answer, and then for the last replica.
constexpr Time to_answer = seconds(60), to_agree = seconds(30);

/// What is on its way at once, and what happens in all: far above what a run that is as it should
/// be ever has.
constexpr std::size_t under_way_max = 200'000;
constexpr std::uint64_t events_max = 3'000'000;

std::string text(const Vote& vote) {
  return concat(static_cast<unsigned>(vote.digest[0]), "@", vote.regency);
}

/// For a trace: what a change of the leader is decided by, in full.
std::string text(const Message& message) {
  std::string all = name_of(message);
  const auto* stop = std::get_if<StopData>(&message);
  if (!stop) return all;
  all += concat(" of regency ", stop->collect.regency, " proves ", stop->collect.proof.instance);
  for (const CollectEntry& entry : stop->collect.entries) {
    all += concat("; ", entry.instance, entry.certified ? ": " + text(*entry.certified) : ":");
    for (const Vote& vote : entry.written) all += " " + text(vote);
  }
  return all;
}

/// About what it takes on the wire; of what is short, nothing.
std::uint64_t bytes_of(const Message& message) {
  std::uint64_t bytes = 0;
  if (const auto* chunk = std::get_if<Chunk>(&message)) bytes += chunk->bytes->size();
  if (const auto* propose = std::get_if<Propose>(&message)) bytes += propose->batch->encoded.size();
  if (const auto* suffix = std::get_if<LogSuffix>(&message)) {
    bytes += suffix->digests.size() * sizeof(Digest);
    for (const BatchPtr& batch : suffix->batches) bytes += batch->encoded.size();
  }
  return bytes;
}

View view_of(const Plan& plan) {
  View view{.model = plan.model, .f = plan.f};
  for (ReplicaId id = 0; id < plan.n; ++id) {
    view.members.push_back({id, concat("replica:", id), ""});
  }
  return view;
}

}  // namespace

World::World(const Plan& plan)
    : plan_(plan),
      random_(plan.seed),
      keys_(random_.next()),
      view_(view_of(plan)),
      latest_view_(view_),
      wires_(random_, plan.n + plan.spares + plan.clients),
      oracle_(now_, plan.clock_jump != Time{} || (plan.lies & fast_clock) != 0,
              plan.clock_jump == Time{} && plan.model == FaultModel::byzantine),
      locks_(now_, plan.clock_jump != Time{} || (plan.lies & fast_clock) != 0,
             [this](const std::string& what) { oracle_.complain(what); }) {
  // Any of them: a liar may be the first leader or never lead. Too many of them lead at once.
  std::set<ReplicaId> liars;
  for (ReplicaId id = 0; plan.liars > plan.f && id < plan.liars; ++id) liars.insert(id);
  while (liars.size() < plan.liars) liars.insert(static_cast<ReplicaId>(random_.below(plan.n)));
  for (ReplicaId id = 0; id < plan.n + plan.spares; ++id) {
    replicas_.push_back(std::make_unique<Replica>(*this, id, liars.contains(id)));
  }
  std::size_t bad = plan.bad_disk == Time{} ? 0 : plan.f - std::min(plan.f, plan.liars);
  for (ReplicaId id = 0; bad > 0 && id < plan.n; ++id, --bad) {
    replicas_[(id + plan.seed) % plan.n]->set_bad_disk();
  }
  for (std::uint32_t index = 0; index < plan.clients; ++index) {
    clients_.push_back(std::make_unique<Client>(*this, index));
  }
}

World::~World() = default;

bool World::run() {
  wires_.set_faults(plan_.wires);
  for (auto& replica : replicas_) {
    after(wires_.between(Time{}, milliseconds(5)), [&replica] { replica->start(); });
  }
  for (auto& client : clients_) {
    after(wires_.between(Time{}, milliseconds(10)), [&client] { client->start(); });
  }
  plan_faults();
  let_liars_act();
  at(plan_.trouble_until, [this] { heal(); });

  const auto answered = [this] {
    return std::all_of(clients_.begin(), clients_.end(),
                       [](const auto& client) { return client->done(); });
  };
  if (!step_until(answered, plan_.trouble_until + to_answer)) {
    std::size_t open = 0;
    for (const auto& client : clients_) open += client->unanswered();
    oracle_.complain(concat("progress: ", open, " requests have no answer"));
  } else if (!step_until([this] { return all_equal(); }, now_ + to_agree)) {
    std::string where = "progress: replicas are not equally far:";
    for (const auto& replica : replicas_) where += concat(" ", replica->executed());
    oracle_.complain(where);
  }
  oracle_.judge();
  locks_.judge();
  return oracle_.complaints().empty();
}

std::string World::complaints() const {
  std::string all;
  for (const std::string& one : oracle_.complaints()) all += one + "\n";
  return all;
}

bool World::step_until(const std::function<bool()>& done, Time limit) {
  while (!done()) {
    // What is wrong already will not get better.
    if (queue_.empty() || queue_.next() > limit || !oracle_.complaints().empty()) return false;
    if (queue_.size() > under_way_max || ++events_ > events_max) {
      oracle_.complain(concat("bounds: ", events_, " events, ", queue_.size(), " under way"));
      return false;
    }
    if (events_ % 64 == 0) look_at_memory(*replicas_[events_ / 64 % replicas_.size()]);
    now_ = queue_.next();
    Payload payload = queue_.pop();
    std::visit([this](auto& what) { happen(what); }, payload);
  }
  return true;
}

// However far behind it is, and whatever others do (Footprint).
void World::look_at_memory(const Replica& replica) {
  if (!replica.up() || !replica.is_correct()) return;
  const Footprint has = replica.core().footprint();
  const bool liars = plan_.model == FaultModel::byzantine;
  const std::size_t instances = liars ? 2 * unproven_max : kept_decided + view_delay;
  const std::size_t places = plan_.state_bytes == 0 ? 1 : CheckpointSpacing::places_max;
  const std::size_t batches =
      unstable_checkpoints_max * places * plan_.settings.checkpoint_interval + view_delay;
  const std::size_t requests = std::size_t{plan_.clients + 1} * plan_.settings.client_requests;
  const Instance stable = replica.stable_known(), decided = replica.core().decided();
  const std::size_t since = std::min<std::size_t>(has.batches, decided - std::min(decided, stable));
  if (has.instances > instances || since > batches ||
      has.batches > batches + kept_for_fetch_max + plan_.settings.checkpoint_interval ||
      has.requests > requests) {
    oracle_.complain(concat("memory: replica ", replica.id(), " has ", has.instances,
                            " instances (of ", instances, "), ", since, " batches (", batches,
                            "), ", has.requests, " requests (", requests, ")"));
  }
}

// After the trouble: so that whoever fell behind has come up again.
bool World::all_equal() const {
  return now_ >= plan_.trouble_until &&
         std::all_of(replicas_.begin(), replicas_.end(), [this](const auto& replica) {
           return !replica->is_correct() || !latest_view_.has(replica->id()) ||
                  (replica->up() && replica->executed() == oracle_.newest());
         });
}

// ---- messages -------------------------------------------------------------------------------

void World::send(ReplicaId from, ReplicaId to, MessagePtr message) {
  messages_ += 1;
  if (plan_.mute_regencies > 0) {
    const auto* propose = std::get_if<Propose>(message.get());
    if (propose && propose->regency < plan_.mute_regencies) return;
  }
  if (from == to) {
    queue_.put(now_ + microseconds(5), ToReplica{from, to, std::move(message)});
    return;
  }
  if (loses_ && loses_(from, to, *message)) return;
  const auto arrivals = wires_.send(from, to, now_, bytes_of(*message));
  if (sim::tracing()) {
    trace(from, " -> ", to, ": ", text(*message), arrivals.count == 0 ? " (lost)" : "");
  }
  for (std::size_t i = 0; i < arrivals.count; ++i) {
    queue_.put(arrivals.at[i], ToReplica{from, to, message});
  }
}

bool World::can_connect(std::uint32_t client, ReplicaId id) const {
  const Replica& replica = *replicas_[id];
  const std::size_t node = replicas_.size() + client;
  return replica.up() && replica.frozen_until() <= now_ && !wires_.blocked(node, id) &&
         !wires_.blocked(id, node);
}

void World::to_replica(std::shared_ptr<ClientLink> link, LinkMessage message) {
  messages_ += 1;
  const auto arrivals = wires_.send(replicas_.size() + link->client(), link->replica(), now_);
  for (std::size_t i = 0; i < arrivals.count; ++i) {
    queue_.put(arrivals.at[i], FromClient{link, message});
  }
}

void World::to_client(std::shared_ptr<ClientLink> link, LinkMessage message) {
  messages_ += 1;
  auto arrivals = wires_.send(link->replica(), replicas_.size() + link->client(), now_);
  if (message.kind == new_view_kind) {
    if (arrivals.count == 0) return link->cut();
    arrivals.at[0] = link->after_views(arrivals.at[0]);
  }
  for (std::size_t i = 0; i < arrivals.count; ++i) {
    queue_.put(arrivals.at[i], ToClient{link, message});
  }
}

void World::wake_client(std::uint32_t client, Time at, std::uint64_t generation) {
  queue_.put(std::max(at, now_), WakeClient{client, generation});
}
void World::tick_at(ReplicaId replica, std::uint64_t generation, Time at) {
  queue_.put(at, TickAt{replica, generation});
}
void World::sync_done(ReplicaId replica, std::uint64_t life, Time at) {
  queue_.put(at, SyncDone{replica, life});
}
void World::happens(ReplicaId replica, std::uint64_t life, Event event, Time at) {
  queue_.put(at, Happens{replica, life, std::move(event)});
}
void World::at(Time time, std::function<void()> script) {
  queue_.put(std::max(time, now_), Script(std::move(script)));
}

void World::give_up_asking() {
  for (const auto& client : clients_) client->give_up_asking();
}

// ---- what happens ---------------------------------------------------------------------------

// To a frozen replica nothing happens until it goes on.
template <class What>
bool World::postponed(ReplicaId id, What& what) {
  const Time until = replicas_[id]->frozen_until();
  if (until <= now_) return false;
  queue_.put(until, std::move(what));
  return true;
}

void World::happen(ToReplica& what) {
  if (postponed(what.to, what)) return;
  replicas_[what.to]->receive(what.from, std::move(what.message));
}
void World::happen(FromAdministrator& what) {
  if (!postponed(what.to, what)) replicas_[what.to]->receive(what.request);
}
void World::happen(FromClient& what) {
  if (!postponed(what.link->replica(), what)) what.link->arrived(std::move(what.message));
}
void World::happen(ToClient& what) {
  clients_[what.link->client()]->heard(*what.link, what.message);
}
void World::happen(WakeClient& what) { clients_[what.client]->timer(what.generation); }
void World::happen(TickAt& what) {
  if (!postponed(what.replica, what)) replicas_[what.replica]->tick(what.generation);
}
void World::happen(SyncDone& what) {
  if (!postponed(what.replica, what)) replicas_[what.replica]->synced(what.life);
}
void World::happen(Happens& what) {
  if (postponed(what.replica, what)) return;
  replicas_[what.replica]->happened(what.life, std::move(what.event));
}

void World::print(const std::string& line) const {
  std::printf("%10.3f ms  %s\n", static_cast<double>(now_.count()) / 1e6, line.c_str());
}

}  // namespace piracema::smr_sim
