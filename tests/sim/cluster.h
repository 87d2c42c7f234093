#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/coordinator/coordinator.h"
#include "control/job_metadata.h"
#include "control/messages/control.h"
#include "sim/network.h"
#include "sim/scheduler.h"
#include "store/snapshot/memory_store.h"

namespace piracema::sim {

class SimWorker;

/// Of the runs of a scenario every fourth one reloads the coordinator from a log at every step;
/// PIRACEMA_RELOAD=1 wants it of all.
bool reloads(std::uint64_t seed);

/// What a simulated process may do to its world.
class ProcessHost {
 public:
  virtual ~ProcessHost() = default;
  virtual void say(runtime::FromWorker message) = 0;
  virtual void after(Time delay, std::function<void()> work) = 0;
  /// To another process, in order; lost if that one has ended.
  virtual void send(Slot to, std::uint32_t incarnation, const std::string& what,
                    std::function<void(SimWorker&)> work) = 0;
  virtual store::SnapshotStore& store() = 0;
  virtual Scheduler& scheduler() = 0;

  /// What a replica is at work on, from now on; what it does to its process then.
  virtual void at_work(ReplicaId replica, std::uint64_t item) = 0;
  virtual void freeze() = 0;
  virtual void hang_up() = 0;
};

/// An item that brings down whoever works on it.
struct Poison {
  enum class Does { freeze, hang_up, stick } does = Does::freeze;
  ReplicaId replica = 0;
  std::uint64_t item = 0;
};

/// The inside of a simulated process: what `runtime::Worker` is to a real one.
class SimWorker {
 public:
  virtual ~SimWorker() = default;
  virtual void handle(const runtime::ToWorker& message) = 0;
  virtual runtime::Heartbeat heartbeat() = 0;
  /// What it says with that while it goes back to a snapshot.
  virtual std::optional<runtime::Restoring> restoring() { return std::nullopt; }
  /// One of its operators throws.
  virtual void fail_somewhere() = 0;
};
using MakeWorker = std::function<std::unique_ptr<SimWorker>(Slot, ProcessHost&)>;

/// How much goes wrong, and until when: what happens later is up to the coordinator alone.
struct Chaos {
  Time until = std::chrono::seconds(10);
  /// Mean time between two faults of each kind; 0: none.
  Time kill{}, crash{}, freeze{}, disconnect{}, stall{}, slow{}, operator_failure{};
  /// The same of the coordinator's process: another one takes the job over, from the log. It dies
  /// between two steps, or in the middle of one.
  Time coordinator_kill{};
  /// How often a process does not die of its Kill at once.
  double undead = 0;
  store::MemoryFaults store;
};

/// A job on simulated machines: the real coordinator, and processes that join, freeze and die. A
/// process that has lost its coordinator looks for another one for a while, and then ends.
class Cluster {
 public:
  struct Settings {
    std::uint64_t seed = 1;
    cluster::JobSettings job;
    GraphShape shape;
    /// What processes say of the states of its nodes; none: nothing.
    std::vector<std::string> layouts = {};
    Chaos chaos;
    /// Where the snapshots of an earlier run are; null: a store of its own.
    store::MemoryStore* store = nullptr;
    /// After each step the coordinator's metadata is replaced by those that a log made of its
    /// decisions holds, which were encoded and decoded. Nothing else may be different then.
    bool reload = false;
    /// All that the coordinator wants is done twice, as by one that does not know what was done.
    bool twice = false;
    /// How long a process looks for another coordinator.
    Time search{};
  };
  Cluster(Settings settings, MakeWorker make_worker);
  ~Cluster();

  /// Until the job has finished; false if it has not by `limit`.
  bool run(Time limit);
  const std::optional<cluster::Finish>& finish() const { return finish_; }
  const cluster::Coordinator& coordinator() const { return *coordinator_; }
  /// What a log of all decisions holds.
  const cluster::JobMetadata& log() const { return log_; }
  store::MemoryStore& store() { return store_; }
  Scheduler& scheduler() { return scheduler_; }

  void stop_at(Time time);
  /// Asks the coordinator that is there then, or the next one.
  void ask_at(Time time, cluster::UserRequest request);
  /// The driver of the coordinator that is there then says that these have better places.
  void move_at(Time time, std::vector<Slot> slots, bool soon);
  /// The process of the coordinator ends then; another one has the job `later`.
  void kill_coordinator_at(Time time, Time later);
  bool coordinated() const { return network_.up(coordinator_node_); }
  /// Processes that have not ended.
  std::size_t alive() const;
  /// Messages of coordinators of lower terms that processes have not heeded.
  std::uint32_t refused() const { return refused_; }
  /// All snapshots are removed, and there is no place for others any more.
  void lose_store_at(Time time);
  /// Processes started, the first ones included.
  std::uint32_t spawned() const { return spawned_; }

  /// Called with every event before, and every action when it is done.
  std::function<void(const cluster::Event&)> on_event = [](const cluster::Event&) {};
  std::function<void(const cluster::Action&)> on_action = [](const cluster::Action&) {};

 private:
  class Process;
  using Id = std::pair<Slot, std::uint32_t>;

  void tell(cluster::Event event);
  void hear(cluster::Event event);
  void plan_tick();
  Process* find(Id id);
  Process* any_process();
  void end(Process& process, std::string by, bool from_outside, bool after_kill);
  void disconnect(Process& process);
  void hang_up(Process& process);

  void act(const cluster::Spawn&);
  void act(const cluster::Kill&);
  void act(const cluster::Send&);
  void act(const cluster::CommitSnapshot&);
  void act(const cluster::DropSnapshot&);
  void act(const cluster::FindSnapshot&);
  void act(const cluster::Finish& finish) { finish_ = finish; }
  void act(const cluster::Tell&);
  void act(const cluster::Decide&);
  void act(const cluster::AnswerRequest&) {}
  void act(const cluster::NameSnapshot&);
  void at_store(std::function<void()> work);

  void lose_coordinator(Time later);
  void take_over();

  void plan_faults();
  void repeat(Time mean, std::function<void()> fault);

  const Settings settings_;
  const MakeWorker make_worker_;
  Scheduler scheduler_;
  Network network_;
  store::MemoryStore own_store_;
  store::MemoryStore& store_;
  std::unique_ptr<cluster::Coordinator> coordinator_;
  cluster::JobMetadata log_;
  /// It dies in its next step, and another one has the job so much later.
  std::optional<Time> dying_;
  std::uint32_t refused_ = 0;
  Node coordinator_node_;
  std::map<Id, std::unique_ptr<Process>> processes_;
  std::uint64_t tick_ = 0;
  Time store_free_{};
  bool store_lost_ = false;
  std::uint32_t spawned_ = 0;
  std::optional<cluster::Finish> finish_;
};

}  // namespace piracema::sim
