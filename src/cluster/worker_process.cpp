#include "cluster/worker_process.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cluster/coordinator_line.h"
#include "cluster/memory_alarm.h"
#include "flow/states.h"
#include "host/at_work.h"
#include "host/directory_mark.h"
#include "host/host_names.h"
#include "loop/poller.h"
#include "net/socket/address.h"
#include "net/socket/connection.h"
#include "net/transport/tcp_transport.h"
#include "os/exit_guard.h"
#include "os/memory_nodes.h"
#include "os/patience.h"
#include "run/sending/pace.h"
#include "run/threads/lead.h"
#include "run/worker/worker.h"
#include "state/disk/state_directory.h"
#include "store/open_store.h"

namespace piracema::cluster {

namespace {

// Operators have so long to return from the end of a job that is done. When it was stopped what
// they do is in no snapshot, and a source that waits for the world may do so for ever.
constexpr std::chrono::milliseconds leave_timeout{5'000}, stop_timeout{100};
// So long a coordinator has to hear why a process cannot begin.
constexpr std::chrono::milliseconds hear_timeout{2'000};

/// A worker and its connections, all on one poller.
class WorkerProcess {
 public:
  WorkerProcess(const Graph& graph, const WorkerEnvironment& environment, net::MpiWorld* mpi)
      : graph_(graph), environment_(environment), mpi_(mpi) {}

  Result<int> run() {
    if (auto opened = open(); !opened) return hindered(opened.error());
    control_.open();
    lead_.run();
    clear_place();
    if (failed_) return *failed_;
    // When the job was stopped a source may wait for the world; what it says no longer matters.
    const int code = static_cast<int>(ending_.code);
    const Patience patience(code == 0 ? leave_timeout : stop_timeout, code, "");
    worker_.reset();
    return code;
  }

 private:
  // The coordinator says it in the name of the job. Where it cannot, this process does.
  Result<int> hindered(const Error& why) {
    hindrance_ = why.message;
    failed_ = why;
    control_.open();
    poller_.at(now() + hear_timeout, [this] { lead_.stop(); });
    lead_.run();
    if (failed_) return *failed_;
    return why.code == Errc::config ? 3 : 1;
  }

  Result<Done> open() {
    if (auto kept = keep_to_cores(); !kept) return kept;
    runtime::BatchPace::fix(environment_.batch_items);
    if (!environment_.mark.empty()) {
      const auto seen = look_for_mark(environment_.mark, concat("worker-", environment_.slot));
      if (!seen) return seen.error();
    }
    if (!environment_.snapshots.empty()) {
      auto store = store::open_store(environment_.snapshots, false);
      if (!store) return store.error();
      store_ = *std::move(store);
    }
    auto place = state::open_state_place(environment_.state_directory, environment_.state_memory);
    if (!place) return place.error();
    place_ = *std::move(place);
    if (environment_.at_work_fd >= 0) {
      auto at_work = AtWork::open(Fd(environment_.at_work_fd));
      if (!at_work) return at_work.error();
      at_work_.emplace(*std::move(at_work));
    }
    worker_ = std::make_unique<runtime::Worker>(
        graph_,
        runtime::WorkerSettings{.slot = environment_.slot,
                                .store = store_.get(),
                                .at_work = place_of_work(),
                                .on_the_way = environment_.on_the_way,
                                .batches = environment_.batches,
                                .dead_letters = environment_.dead_letters,
                                .threads = environment_.threads,
                                .cores = environment_.cores,
                                .back_bytes_max = environment_.cycle_bytes,
                                .place = place_.get(),
                                .lead = &lead_},
        [this](const runtime::FromWorker& message) { control_.say(message); });
    return open_transport();
  }

  std::function<std::atomic<std::uint64_t>&(ReplicaId)> place_of_work() {
    if (!at_work_) return nullptr;
    return
        [this](ReplicaId replica) -> std::atomic<std::uint64_t>& { return (*at_work_)[replica]; };
  }

  // Before there are other threads, which inherit it (paper 004, section 3: threadMapping).
  Result<Done> keep_to_cores() const {
    const auto wanted = environment_.cores.empty() ? near_cores() : environment_.cores;
    if (wanted.empty()) return Done{};
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (const std::uint32_t core : wanted) {
      if (core < CPU_SETSIZE) CPU_SET(core, &cores);
    }
    if (::sched_setaffinity(0, sizeof cores, &cores) == 0) return Done{};
    return Error{Errc::config, with_errno("PIRACEMA_CORES")};
  }

  // Of a machine with several memory nodes: what a process writes lies where its threads read it.
  std::vector<std::uint32_t> near_cores() const {
    if (environment_.places == 0 || environment_.topology == "none") return {};
    const auto nodes =
        environment_.topology.empty() ? memory_nodes() : memory_nodes(environment_.topology);
    return cores_of_process(nodes, environment_.place, environment_.places);
  }

  Result<Done> open_transport() {
    net::TcpSettings settings{
        .me = environment_.slot,
        .incarnation = environment_.incarnation,
        .token = environment_.token,
        .sealed = environment_.plain ? net::Sealed::nowhere : net::Sealed::between_hosts,
        .shared_memory = environment_.shared_memory,
        .peers = environment_.peers,
        .mpi = mpi_};
    if (environment_.listen == "facing") {
      auto coordinator = net::Address::parse(environment_.coordinators.front());
      if (!coordinator) return coordinator.error();
      auto own = address_facing(coordinator->host());
      if (!own) return own.error();
      settings.host = *std::move(own);
    } else if (!environment_.listen.empty()) {
      auto where = net::Address::parse(environment_.listen);
      if (!where) return where.error();
      settings.host = where->host();
      settings.port = where->port();
    }
    net::Transport::Events events{
        .connected = [this](
                         Slot peer,
                         std::uint32_t incarnation) { worker_->on_connected(peer, incarnation); },
        .received = [this](Slot from,
                           wire::Frame frame) { worker_->on_frame(from, std::move(frame)); },
        // A peer that is gone is replaced by the coordinator, who hears of it as well.
        .lost = [](Slot, std::uint32_t, const Error&) {}};
    auto transport = net::TcpTransport::open(poller_, settings, std::move(events));
    if (!transport) return transport.error();
    transport_ = *std::move(transport);
    worker_->set_transport(transport_.get());
    return Done{};
  }

  runtime::Hello hello() {
    if (!hindrance_.empty()) {
      return {.slot = environment_.slot,
              .incarnation = environment_.incarnation,
              .pid = static_cast<std::uint64_t>(::getpid()),
              .hindrance = hindrance_};
    }
    // Before the first answer, so that its silence counts.
    if (!std::exchange(beats_, true)) {
      poller_.post([this] {
        beat();
        alarm_.watch();
      });
    }
    return {.slot = environment_.slot,
            .incarnation = environment_.incarnation,
            .pid = static_cast<std::uint64_t>(::getpid()),
            .address = transport_->address(),
            .graph = runtime::encode_shape(graph_.shape),
            .costs = runtime::costs_of(graph_.shape),
            // What nobody saves need not be known, and user code is not asked for it.
            .states =
                environment_.snapshots.empty() ? flow::StateTypes{} : flow::state_types_of(graph_),
            .unsaved = flow::unsaved_states(graph_.shape)};
  }

  void beat() {
    control_.say(worker_->heartbeat());
    if (const auto restoring = worker_->restoring()) control_.say(*restoring);
    if (auto links = worker_->links()) control_.say(*std::move(links));
    poller_.at(now() + environment_.heartbeat, [this] { beat(); });
  }

  void received(const runtime::ToWorker& message) {
    if (!hindrance_.empty()) {
      failed_.reset();
      lead_.stop();
    } else if (const auto* ending = std::get_if<runtime::Shutdown>(&message)) {
      ending_ = *ending;
      // The counters as they are at the end.
      control_.say(worker_->heartbeat());
      if (!ending_.why.empty()) leave_at_once();
      lead_.stop();
    } else {
      worker_->handle(message);
    }
  }

  // What operators still do with their states is nobody's any more.
  void clear_place() {
    if (place_) place_->clear();
  }

  // Another process does its work, or it never had any: what it still holds back must not come out.
  [[noreturn]] void leave_at_once() {
    clear_place();
    log(Level::error, ending_.why);
    ::_exit(static_cast<int>(ending_.code));
  }

  // Nobody is left who could want the results, and an operator may be at work for hours.
  void lost(const Error& why) {
    if (!hindrance_.empty()) return lead_.stop();
    log(Level::error, concat("the coordinator is gone: ", why.message));
    clear_place();
    ::_exit(1);
  }

  void fail(Error why) {
    if (hindrance_.empty()) failed_ = std::move(why);
    lead_.stop();
  }

  const Graph& graph_;
  const WorkerEnvironment& environment_;
  net::MpiWorld* const mpi_;
  net::Poller poller_;
  runtime::Lead lead_{poller_};
  std::unique_ptr<store::SnapshotStore> store_;
  std::unique_ptr<state::StateDirectory> place_;
  std::optional<AtWork> at_work_;
  CoordinatorLine control_{
      poller_,
      {environment_.token, environment_.coordinators, environment_.coordinator_file},
      environment_.coordinator_wait,
      {.hello = [this] { return hello(); },
       .received = [this](const runtime::ToWorker& message) { received(message); },
       .failed = [this](const Error& why) { fail(why); },
       .lost = [this](const Error& why) { lost(why); }}};
  bool beats_ = false;
  MemoryAlarm alarm_{poller_, graph_.shape, environment_.state_directory.empty()};
  std::unique_ptr<net::TcpTransport> transport_;
  // Last, so that it goes first: its threads use all the others.
  std::unique_ptr<runtime::Worker> worker_;

  runtime::Shutdown ending_;
  std::optional<Error> failed_;
  /// Why it could not begin.
  std::string hindrance_;
};

}  // namespace

WorkerEnd run_worker(const Graph& graph, const WorkerEnvironment& environment, net::MpiWorld* mpi) {
  set_log_process(concat("worker ", environment.slot));
  const ExitGuard guard;
  WorkerProcess process(graph, environment, mpi);
  const auto code = process.run();
  if (code) return {.code = *code};
  log(Level::error, code.error().message);
  return {.code = code.error().code == Errc::config ? 3 : 1, .of_itself = true};
}

}  // namespace piracema::cluster
