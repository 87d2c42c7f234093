#include "cluster/driver.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/coordinator.h"
#include "cluster/driver_crew.h"
#include "cluster/driver_door.h"
#include "cluster/driver_signals.h"
#include "cluster/driver_snapshots.h"
#include "cluster/driver_store_thread.h"
#include "cluster/driver_tally.h"
#include "net/poller.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::milliseconds look_every{100};

int exit_code(const Error& error) {
  switch (error.code) {
    case Errc::usage:
      return 2;
    case Errc::failed:
      return 1;
    case Errc::lost:
      return 4;
    default:
      return 3;
  }
}

/// The coordinator's hands and ears. Everything happens on one thread, but for the snapshot store.
class Driver {
 public:
  Driver(const JobOptions& options, JobObserver& observer)
      : options_(options), observer_(observer) {}

  JobReport run() {
    if (auto prepared = prepare(); !prepared) {
      finish(exit_code(prepared.error()), prepared.error().message);
    } else {
      tell(Tick{});
    }
    while (!finish_) turn();
    store_thread_.reset();
    wait_for_all();
    return make_report();
  }

 private:
  // ---- before the start ---------------------------------------------------------------------

  Result<Done> prepare() {
    JobSettings settings = options_.settings;
    settings.snapshots = !options_.snapshots.empty();
    settings.dead_letters = !options_.dead_letters.empty();
    if (settings.snapshots) {
      auto beginning = begin_in(options_.snapshots, options_.resume);
      if (!beginning) return beginning.error();
      beginning_ = *std::move(beginning);
      if (options_.resume) {
        settings.resume = beginning_.newest->snapshot;
        settings.found = beginning_.found;
      }
      start_store_thread();
    } else if (options_.resume) {
      return Error{Errc::config, "nothing to resume: no directory of snapshots was given"};
    }
    if (auto valid = validate(settings); !valid) return valid.error();
    if (beginning_.resume && beginning_.newest->finished) {
      finish(0, concat("nothing to resume: the run had ended with snapshot ",
                       beginning_.newest->snapshot));
    }
    coordinator_ = std::make_unique<Coordinator>(settings);
    join_by_ = start_ + settings.join_timeout;
    for (const KillOrder& order : options_.kills) tally_.report.kills.push_back({.order = order});
    return open_door();
  }

  void start_store_thread() {
    store_thread_ = std::make_unique<StoreThread>(
        *beginning_.store, [this](SnapshotId snapshot, Result<Done> committed) {
          poller_.post([this, snapshot, committed = std::move(committed)] {
            if (committed) {
              tell(SnapshotCommitted{snapshot});
            } else {
              tell(SnapshotCommitFailed{snapshot, committed.error().message});
            }
          });
        });
  }

  Result<Done> open_door() {
    auto token = Door::make_token();
    if (!token) return token.error();
    auto door = Door::open(
        poller_, *token, [this](const runtime::Hello& hello) { return expected(hello); },
        [this](const runtime::Hello& hello, Door::Line line) { return joined(hello, line); });
    if (!door) return door.error();
    door_ = *std::move(door);
    launch_ = {.command = options_.command,
               .environment = {concat("PIRACEMA_COORDINATOR=", door_->address()),
                               concat("PIRACEMA_TOKEN=", *token),
                               concat("PIRACEMA_SNAPSHOTS=", options_.snapshots),
                               concat("PIRACEMA_DEAD_LETTERS=", options_.dead_letters),
                               concat("PIRACEMA_HEARTBEAT_MS=",
                                      options_.settings.heartbeat_interval.count())},
               .output_to_error = options_.output_to_error};
    return Done{};
  }

  // ---- the loop -----------------------------------------------------------------------------

  void turn() {
    const Time deadline = coordinator_->next_deadline().value_or(Time::max());
    const Time until = std::min(deadline, next_look_);
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now());
    poller_.run_once(std::max(wait, std::chrono::milliseconds(0)));

    // What has arrived by now is told first, as of now: after a pause of this process (a busy
    // machine, Ctrl-Z) signs of life lie unread, and nobody was silent.
    frozen_ = now();
    poller_.run_once(std::chrono::milliseconds(0));
    if (!finish_ && coordinator_->next_deadline() <= frozen_ && coordinator_->next_deadline()) {
      tell(Tick{});
    }
    if (*frozen_ >= next_look_) look();
    frozen_.reset();
  }

  void look() {
    next_look_ = *frozen_ + look_every;
    if (!anybody_joined_ && *frozen_ >= join_by_ && !finish_) {
      finish(3, concat("'", options_.command.front(), "' has not joined within ",
                       human_seconds(std::chrono::duration<double>(join_by_ - start_).count()),
                       ": is it a Piracema program?"));
    }
    if (anybody_joined_) observer_.progressed(since_start(), tally_.report);
  }

  /// Never goes back, as the coordinator wants it.
  Time time() {
    last_time_ = std::max(last_time_, frozen_.value_or(now()));
    return last_time_;
  }
  Time since_start() { return time() - start_; }

  void tell(const Event& event) {
    if (finish_) return;
    for (Action& action : coordinator_->step(time(), event)) {
      if (finish_) return;
      std::visit([this](auto& what) { act(what); }, action);
    }
  }

  // ---- what the coordinator wants -----------------------------------------------------------

  // The first process starts alone: a program that cannot run says so once, not N times.
  void act(const Spawn& spawn) {
    const Crew::Id id{spawn.slot, spawn.incarnation};
    if (!anybody_joined_ && crew_.size() != 0) {
      waiting_.push_back(id);
    } else {
      start(id);
    }
  }

  void start(Crew::Id id) {
    tally_.report.processes_started += 1;
    auto started = crew_.start(id, launch_);
    if (started) return;
    if (!anybody_joined_) {
      finish(exit_code(started.error()), started.error().message);
    } else {
      poller_.post([this, id, why = started.error().message] {
        tell(Exited{.slot = id.first, .incarnation = id.second, .by = why});
      });
    }
  }

  void act(const Kill& kill) {
    const Crew::Id id{kill.slot, kill.incarnation};
    // One that has not been started yet never will be.
    if (std::erase(waiting_, id) != 0) {
      poller_.post([this, id] {
        tell(Exited{.slot = id.first, .incarnation = id.second, .by = "never started"});
      });
    }
    crew_.kill(id);
  }

  void act(const Send& send) { crew_.send({send.slot, send.incarnation}, send.message); }

  void act(CommitSnapshot& commit) { store_thread_->commit(std::move(commit.manifest)); }
  void act(const DropSnapshot& drop) { store_thread_->drop(drop.snapshot); }

  void act(const Tell& what) {
    tally_.noted(since_start(), what.note);
    observer_.noted(since_start(), what.note);
  }

  void act(const Finish& finished) {
    // The coordinator does not know which signal it was.
    const bool by_sigint = finished.code == 143 && stop_signal_ == SIGINT;
    finish(by_sigint ? 130 : finished.code, finished.why);
  }

  void finish(int code, std::string why) {
    if (!finish_) finish_ = Finish{code, std::move(why)};
  }

  // ---- what happens -------------------------------------------------------------------------

  Result<Done> expected(const runtime::Hello& hello) {
    if (hello.version != runtime::protocol_version) {
      return Error{Errc::refused,
                   concat("this is version ", runtime::protocol_version,
                          " of the protocol, the program speaks version ", hello.version,
                          ": build it against the Piracema that runs it")};
    }
    if (!crew_.expects({hello.slot, hello.incarnation})) {
      return Error{Errc::refused,
                   concat("no process ", hello.incarnation, " is expected in slot ", hello.slot)};
    }
    return Done{};
  }

  net::Connection::Events joined(const runtime::Hello& hello, Door::Line line) {
    const Crew::Id id{hello.slot, hello.incarnation};
    crew_.join(id, std::move(line));
    if (!std::exchange(anybody_joined_, true)) first_joined(hello);
    tell(Joined{id.first, id.second, hello.address, hello.graph});
    if (const auto& job = coordinator_->job(); job && !planned_) plan(*job);
    return {.received = [this, id](wire::Frame frame) { heard(id, frame); },
            .lost = [this, id](const Error&) { crew_.line_lost(id); }};
  }

  void first_joined(const runtime::Hello& hello) {
    if (beginning_.store) {
      if (auto accepted = accept_job(beginning_, hello.graph); !accepted) {
        return finish(exit_code(accepted.error()), accepted.error().message);
      }
    }
    for (const Crew::Id& id : std::exchange(waiting_, {})) start(id);
  }

  void plan(const Job& job) {
    planned_ = true;
    tally_.plan(job);
    for (const KillOrder& order : options_.kills) {
      if (auto found = find_replica(job, order); !found) {
        return finish(exit_code(found.error()), found.error().message);
      }
    }
    observer_.planned(job, tally_.report);
  }

  static Result<ReplicaId> find_replica(const Job& job, const KillOrder& order) {
    std::string nodes;
    for (const NodeShape& node : job.shape.nodes) {
      nodes += concat(nodes.empty() ? "" : ", ", node.name, " (", node.replicas, ")");
    }
    for (ReplicaId replica = 0; replica < job.replicas(); ++replica) {
      const flow::ReplicaPlan& plan = job.plan.replicas[replica];
      if (job.shape.nodes[plan.node].name == order.node && plan.index == order.replica) {
        return replica;
      }
    }
    return Error{Errc::config, concat("kill: there is no replica ", order.replica, " of '",
                                      order.node, "'; nodes and their replicas are ", nodes)};
  }

  void heard(Crew::Id id, const wire::Frame& frame) {
    auto message = runtime::from_worker(frame);
    if (!message) {
      // It speaks, but not our language: such a process is of no use.
      log(Level::warning, concat("worker ", id.first, ": ", message.error().message));
      return crew_.kill(id);
    }
    tell(Said{id.first, id.second, *message});
    const auto* heartbeat = std::get_if<runtime::Heartbeat>(&*message);
    if (heartbeat == nullptr || !planned_ || finish_) return;
    tally_.heard(id.first, *heartbeat, emitted_at_restore());
    if (coordinator_->phase() == Phase::running) inject_kills();
  }

  std::uint64_t emitted_at_restore() const {
    std::uint64_t items = coordinator_->items_emitted();
    for (const runtime::Progress& progress : coordinator_->progress()) {
      if (coordinator_->job()->role(progress.replica) == Role::source) items -= progress.items_out;
    }
    return items;
  }

  void inject_kills() {
    for (std::size_t i = 0; i < tally_.report.kills.size(); ++i) {
      KillReport& kill = tally_.report.kills[i];
      if (kill.killed_at || tally_.report.read < kill.order.at) continue;
      const Job& job = *coordinator_->job();
      const ReplicaId replica = *find_replica(job, kill.order);
      kill.slot = job.placement[replica];
      kill.killed_at = since_start();
      if (const auto id = crew_.current(kill.slot)) crew_.kill(*id);
      observer_.killed(since_start(), kill, job.name(replica));
    }
  }

  void ended(const Exited& exited, const Exit& exit, bool joined) {
    tally_.report.cpu += exit.cpu;
    tally_.report.peak_bytes = std::max(tally_.report.peak_bytes, exit.peak_bytes);
    if (anybody_joined_ || joined) return tell(exited);
    // The program has said why it takes its arguments or settings for wrong: its code is ours.
    const bool refused = exit.status == 2 || exit.status == 3;
    finish(refused ? *exit.status : 3,
           concat("'", options_.command.front(), "' ", exit.how, " without joining",
                  refused ? "" : ": is it a Piracema program?"));
  }

  void signalled(int number) {
    if (number == SIGCHLD) return crew_.reap_all();
    if (stop_signal_ != 0 || !anybody_joined_) {
      return finish(128 + number, "ended at once by a signal");
    }
    stop_signal_ = number;
    observer_.stopping(since_start());
    tell(StopRequested{});
  }

  // ---- after the end ------------------------------------------------------------------------

  void wait_for_all() {
    for (Slot slot = 0; slot < options_.settings.slots; ++slot) {
      while (const auto id = crew_.current(slot)) {
        crew_.kill(*id);
        poller_.run_once(look_every);
      }
    }
  }

  JobReport make_report() {
    JobReport report = std::move(tally_.report);
    report.code = finish_->code;
    report.why = finish_->why;
    report.took = since_start();
    struct rusage own {};
    ::getrusage(RUSAGE_SELF, &own);
    for (const timeval& used : {own.ru_utime, own.ru_stime}) {
      report.cpu += std::chrono::seconds(used.tv_sec) + std::chrono::microseconds(used.tv_usec);
    }
    return report;
  }

  const JobOptions& options_;
  JobObserver& observer_;
  const Time start_ = now();
  net::Poller poller_;
  Signals signals_{poller_, [this](int number) { signalled(number); }};
  Tally tally_;
  Crew crew_{poller_,
             {.exited = [this](const Exited& exited, const Exit& exit,
                               bool joined) { ended(exited, exit, joined); },
              .connection_lost =
                  [this](Crew::Id id) {
                    tell(ConnectionLost{id.first, id.second});
                  }}};
  Beginning beginning_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<Door> door_;
  std::unique_ptr<StoreThread> store_thread_;
  Launch launch_;

  /// Processes that wait for the first one to join.
  std::vector<Crew::Id> waiting_;
  bool anybody_joined_ = false;
  bool planned_ = false;
  int stop_signal_ = 0;
  Time join_by_{};
  Time next_look_ = start_;
  Time last_time_ = start_;
  std::optional<Time> frozen_;
  std::optional<Finish> finish_;
};

}  // namespace

JobReport run_job(const JobOptions& options, JobObserver& observer) {
  return Driver(options, observer).run();
}

}  // namespace piracema::cluster
