#include "sim/cluster.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/ensure.h"
#include "sim/cluster_process.h"

namespace piracema::sim {

using namespace cluster;
using std::chrono::microseconds;

bool reloads(std::uint64_t seed) {
  static const char* const all = std::getenv("PIRACEMA_RELOAD");
  return seed % 4 == 0 || (all != nullptr && std::string_view(all) == "1");
}

Cluster::Cluster(Settings settings, MakeWorker make_worker)
    : settings_(std::move(settings)),
      make_worker_(std::move(make_worker)),
      scheduler_(settings_.seed),
      network_(scheduler_),
      own_store_(settings_.chaos.store),
      store_(settings_.store != nullptr ? *settings_.store : own_store_),
      coordinator_(std::make_unique<Coordinator>(settings_.job)),
      log_(settings_.job),
      coordinator_node_(network_.add("coordinator")) {
  scheduler_.at(settings_.chaos.until, [this] {
    if (!store_lost_) own_store_.set_faults({});
  });
  plan_faults();
}

Cluster::~Cluster() = default;

bool Cluster::run(Time limit) {
  if (spawned_ == 0) network_.after(coordinator_node_, Time{0}, [this] { hear(Tick{}); });
  return scheduler_.run_until([this] { return finish_.has_value(); }, limit);
}

// Until there is somebody to tell: a user asks again.
void Cluster::stop_at(Time time) {
  scheduler_.after(time, [this] {
    if (!coordinated()) return stop_at(milliseconds(100));
    network_.after(coordinator_node_, Time{0}, [this] { tell(StopRequested{}); });
  });
}

void Cluster::ask_at(Time time, UserRequest request) {
  scheduler_.after(time, [this, request = std::move(request)] {
    if (!coordinated()) return ask_at(milliseconds(100), request);
    network_.after(coordinator_node_, Time{0}, [this, request] { tell(UserAsked{0, request}); });
  });
}

void Cluster::move_at(Time time, std::vector<Slot> slots, bool soon) {
  scheduler_.after(time, [this, slots = std::move(slots), soon] {
    if (!coordinated()) return;
    network_.after(coordinator_node_, Time{0}, [this, slots, soon] {
      tell(MovesWished{slots, soon});
    });
  });
}

void Cluster::lose_store_at(Time time) {
  scheduler_.after(time, [this] {
    store_lost_ = true;
    store_.set_faults({.put = 1, .commit = 1});
    const auto all = store_.list();
    for (const SnapshotId id : *all) static_cast<void>(store_.drop(id));
  });
}

// ---- the coordinator's ears -----------------------------------------------------------------

void Cluster::tell(Event event) {
  // A message on a connection that has ended does not come any more.
  if (const auto* said = std::get_if<Said>(&event)) {
    Process* process = find({said->slot, said->incarnation});
    if (process == nullptr || !process->connected()) return;
  }
  hear(std::move(event));
}

void Cluster::hear(Event event) {
  if (finish_) return;
  on_event(event);
  for (const Action& action : coordinator_->step(scheduler_.now(), event)) {
    if (dying_ && scheduler_.random().chance(0.3)) return lose_coordinator(*dying_);
    std::visit([this](const auto& what) { act(what); }, action);
    const bool again = settings_.twice && !std::holds_alternative<Decide>(action);
    if (again) std::visit([this](const auto& what) { act(what); }, action);
    on_action(action);
  }
  if (dying_) return lose_coordinator(*dying_);
  if (settings_.reload) {
    ENSURE(as_text(log_.encode()) == as_text(coordinator_->metadata().encode()));
    coordinator_->reload(log_);
  }
  plan_tick();
}

// ---- another coordinator --------------------------------------------------------------------

void Cluster::kill_coordinator_at(Time time, Time later) {
  scheduler_.after(time, [this, later] {
    if (!finish_ && coordinated()) dying_ = later;
  });
}

// What it had asked of the store may be done or not; whom it has started lives on.
void Cluster::lose_coordinator(Time later) {
  dying_.reset();
  network_.crash(coordinator_node_);
  for (const auto& [id, process] : processes_) {
    if (process->connected()) process->lose_coordinator();
  }
  scheduler_.after(later, [this] { take_over(); });
}

void Cluster::take_over() {
  network_.restart(coordinator_node_);
  auto metadata = JobMetadata::decode(log_.encode());
  ENSURE(metadata.ok());
  coordinator_ = std::make_unique<Coordinator>(*std::move(metadata));
  hear(Tick{});
}

// A log reads what it has written.
void Cluster::act(const Decide& decide) {
  const auto read = decode_decisions(encode_decisions(decide.decisions));
  ENSURE(read.ok());
  for (const Decision& decision : *read) ENSURE(log_.apply(decision).ok());
  if (!settings_.reload) return;
  auto again = JobMetadata::decode(log_.encode());
  ENSURE(again.ok());
  log_ = *std::move(again);
}

// A driver reads what has arrived before it says that time has passed, so a Tick that waited
// while the coordinator stood still is put behind all that waited too.
void Cluster::plan_tick() {
  const auto deadline = coordinator_->next_deadline();
  if (!deadline) return;
  const Time delay = std::max(*deadline - scheduler_.now(), Time{0});
  network_.after(coordinator_node_, delay, [this, tick = ++tick_] {
    network_.after(coordinator_node_, Time{0}, [this, tick] {
      if (tick == tick_) hear(Tick{});
    });
  });
}

// ---- its hands ------------------------------------------------------------------------------

void Cluster::act(const Spawn& spawn) {
  if (find({spawn.slot, spawn.incarnation}) != nullptr) return;
  scheduler_.trace("coordinator starts process ", spawn.slot, ".", spawn.incarnation);
  spawned_ += 1;
  const Id id{spawn.slot, spawn.incarnation};
  auto& process = processes_[id] = std::make_unique<Process>(*this, id);
  process->start();
}

void Cluster::act(const Kill& kill) {
  Process* process = find({kill.slot, kill.incarnation});
  if (process == nullptr || !process->alive()) return;
  Time delay = scheduler_.between(microseconds(10), milliseconds(2));
  if (scheduler_.random().chance(settings_.chaos.undead)) {
    delay = scheduler_.between(milliseconds(100), milliseconds(2'000));
  }
  scheduler_.after(delay,
                   [this, process] { end(*process, "killed by signal 9 (SIGKILL)", true, true); });
}

void Cluster::act(const Send& send) {
  Process* process = find({send.slot, send.incarnation});
  if (process == nullptr || !process->connected()) return;
  static const char* const names[] = {"deploy", "trigger",    "commit", "shutdown",
                                      "attach", "still here", "trees",  "read ahead"};
  network_.send(
      coordinator_node_, process->node(), names[send.message.index()],
      [process, message = send.message, term = log_.term] { process->receive(term, message); });
}

void Cluster::act(const CommitSnapshot& commit) {
  at_store([this, manifest = commit.manifest] {
    const auto done = store_.commit(manifest);
    scheduler_.trace("store: snapshot ", manifest.snapshot, done ? " is complete" : " fails");
    Event event = SnapshotCommitted{manifest.snapshot};
    if (!done) event = SnapshotCommitFailed{manifest.snapshot, done.error().message};
    network_.after(coordinator_node_, Time{0}, [this, event] { tell(event); });
  });
}

void Cluster::act(const DropSnapshot& drop) {
  at_store([this, id = drop.snapshot] { static_cast<void>(store_.drop(id)); });
}

void Cluster::act(const NameSnapshot& wanted) {
  at_store([this, wanted] {
    const auto done = store_.add_savepoint(wanted.name, wanted.snapshot);
    Event event = SnapshotNamed{wanted.snapshot};
    if (!done) event = SnapshotNotNamed{wanted.snapshot, done.error().message};
    network_.after(coordinator_node_, Time{0}, [this, event] { tell(event); });
  });
}

void Cluster::act(const FindSnapshot& wanted) {
  at_store([this, id = wanted.snapshot] {
    auto found = store_.find(id);
    if (store_lost_) found = Error{Errc::not_found, "the store: no such directory"};
    Event event = SnapshotFound{};
    if (!found) event = SnapshotGone{found.error().message};
    network_.after(coordinator_node_, Time{0}, [this, event] { tell(event); });
  });
}

void Cluster::act(const Tell& tell) {
  if (const auto* lost = std::get_if<Lost>(&tell.note)) {
    scheduler_.trace("coordinator: worker ", lost->slot, " is lost: ", lost->how);
  } else if (const auto* going = std::get_if<Recovering>(&tell.note)) {
    scheduler_.trace("coordinator: epoch ", going->epoch, " from snapshot ",
                     going->restore.value_or(0));
  } else if (const auto* aborted = std::get_if<SnapshotAborted>(&tell.note)) {
    scheduler_.trace("coordinator: snapshot ", aborted->snapshot, " given up: ", aborted->why);
  }
}

// One thread of its own, so its answers are in order, whatever the coordinator does meanwhile.
void Cluster::at_store(std::function<void()> work) {
  Time takes = scheduler_.between(microseconds(100), milliseconds(10));
  if (scheduler_.random().chance(0.05))
    takes = scheduler_.between(milliseconds(50), milliseconds(1'500));
  store_free_ = std::max(store_free_, scheduler_.now()) + takes;
  scheduler_.at(store_free_, [this, term = log_.term, work = std::move(work)] {
    if (term == log_.term) work();  // Else it has died with its process.
  });
}

// ---- processes ------------------------------------------------------------------------------

Cluster::Process* Cluster::find(Id id) {
  const auto found = processes_.find(id);
  return found == processes_.end() ? nullptr : found->second.get();
}

std::size_t Cluster::alive() const {
  return static_cast<std::size_t>(std::count_if(processes_.begin(), processes_.end(),
                                                [](auto& one) { return one.second->alive(); }));
}

Cluster::Process* Cluster::any_process() {
  std::vector<Process*> alive;
  for (const auto& [id, process] : processes_) {
    if (process->alive()) alive.push_back(process.get());
  }
  if (alive.empty()) return nullptr;
  return alive[scheduler_.random().below(alive.size())];
}

// The end of the connection and the end of the process are noticed in either order.
void Cluster::end(Process& process, std::string by, bool from_outside, bool after_kill) {
  if (!process.alive()) return;
  scheduler_.trace(network_.name(process.node()), " ", by);
  network_.crash(process.node());
  const Time soon = milliseconds(2);
  if (process.connected()) {
    network_.after(coordinator_node_, scheduler_.between(Time{0}, soon), [this, &process] {
      process.set_disconnected();
      hear(ConnectionLost{process.id().first, process.id().second});
    });
  }
  if (!coordinated()) process.set_disconnected();
  Exited exited{process.id().first, process.id().second, false, from_outside, std::move(by), {}};
  exited.at_work = process.was_at_work();
  exited.by_signal = exited.by.starts_with("killed by signal");
  if (!from_outside && !after_kill && coordinator_->job()) {
    const auto& placement = coordinator_->job()->placement;
    for (ReplicaId replica = 0; replica < placement.size(); ++replica) {
      if (placement[replica] == exited.slot) {
        exited.at_work.push_back({replica, scheduler_.random().next()});
      }
    }
  }
  network_.after(coordinator_node_, scheduler_.between(Time{0}, soon),
                 [this, exited = std::move(exited)] { tell(exited); });
}

void Cluster::disconnect(Process& process) {
  if (!process.connected()) return;
  hang_up(process);
  process.after(scheduler_.between(Time{0}, milliseconds(1'000)),
                [this, &process] { end(process, "ended with status 1", true, false); });
}

void Cluster::hang_up(Process& process) {
  scheduler_.trace(network_.name(process.node()), " loses its connection");
  process.set_disconnected();
  network_.after(coordinator_node_, scheduler_.between(Time{0}, milliseconds(2)), [this, &process] {
    hear(ConnectionLost{process.id().first, process.id().second});
  });
}

}  // namespace piracema::sim
