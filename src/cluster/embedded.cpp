#include "cluster/embedded.h"

#include <signal.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/program_check.h"
#include "cluster/driver/signals.h"
#include "cluster/driver/stop_signals.h"
#include "cluster/driver/store_thread.h"
#include "cluster/memory_alarm.h"
#include "control/coordinator/coordinator.h"
#include "flow/states.h"
#include "loop/poller.h"
#include "observe/http/job_pages.h"
#include "observe/http/server.h"
#include "observe/status/recorder.h"
#include "os/exit_code.h"
#include "os/exit_guard.h"
#include "os/patience.h"
#include "run/worker/worker.h"
#include "state/disk/state_directory.h"

namespace piracema::cluster {

namespace {

// An operator has so long to return when its job has failed, or was stopped with a snapshot: what
// it does is not in that, and a source that waits for the world may do so for ever.
constexpr std::chrono::milliseconds return_timeout{1'000}, stopped_timeout{100};
constexpr std::chrono::milliseconds board_every{1'000};
constexpr std::size_t log_lines_kept = 200;
constexpr int code_of_lost = 4;

JobSettings settings_of(const RunOptions& options) {
  JobSettings settings;
  settings.snapshots = !options.snapshots.empty();
  settings.snapshot_interval = options.snapshot_interval;
  settings.overtake_after = options.overtake_after;
  settings.can_spawn = false;
  return settings;
}

/// The coordinator and the only worker of a job, in one process.
class Embedded {
 public:
  Embedded(const Graph& graph, const RunOptions& options)
      : graph_(graph), options_(options), settings_(settings_of(options)) {}

  Result<Finish> run() {
    if (settings_.snapshots || options_.strict) {
      auto accepted = accept_unsaved(flow::unsaved_states(graph_.shape), options_.strict);
      if (!accepted) return accepted.error();
    }
    if (settings_.snapshots) {
      if (auto opened = open_store(); !opened) return opened.error();
    }
    if (auto valid = validate(settings_); !valid) return valid.error();
    auto place = state::open_state_place(options_.state_directory, options_.state_memory);
    if (!place) return place.error();
    place_ = *std::move(place);
    if (const auto http = observe::http_options(options_.http, options_.http_token)) {
      if (auto served = serve(*http); !served) return served.error();
    }
    coordinator_.emplace(settings_);
    worker_.emplace(graph_,
                    runtime::WorkerSettings{.store = beginning_.store.get(),
                                            .threads = options_.threads,
                                            .back_bytes_max = options_.cycle_bytes,
                                            .place = place_.get()},
                    [this](runtime::FromWorker message) {
                      poller_.post([this, message = std::move(message)]() mutable {
                        if (recorder_) recorder_->heard(since_start(), 0, message);
                        tell(Said{0, 0, std::move(message)});
                      });
                    });
    tell(Tick{});
    tell(Joined{.graph = runtime::encode_shape(graph_.shape), .layouts = layouts_});
    watch();
    beat();
    alarm_.watch();
    while (!finish_) {
      poller_.run_once(until_deadline());
      const auto deadline = coordinator_->next_deadline();
      if (!finish_ && deadline && *deadline <= now()) tell(Tick{});
    }
    if (board_) {
      board_->when_asked_to_stop({});
      board_->when_asked({});
      board_->publish(recorder_->end(since_start(), finish_->code, finish_->why, tally_.report),
                      now());
    }
    say_what_was_late();
    leave();
    return *finish_;
  }

 private:
  // Before there is a thread of the job: that of the server takes no signals.
  Result<Done> serve(const observe::HttpOptions& options) {
    observe::JobFacts facts = observe::facts_of_this_process();
    facts.command = observe::command_of_this_process();
    facts.snapshots = settings_.snapshots;
    facts.snapshot_interval = settings_.snapshot_interval;
    facts.settings = {{"processes", "this one"}};
    if (settings_.snapshots) facts.settings.emplace_back("snapshots", options_.snapshots);
    board_.emplace(facts);
    auto server =
        observe::HttpServer::start_if_can(options, std::make_shared<observe::JobPages>(*board_));
    if (!server) return Error{server.error().code, concat("http: ", server.error().message)};
    server_ = *std::move(server);
    if (!options.is_for_runner) {
      log(Level::info, concat("the job is shown at ", server_->entrance()));
    }
    keep_log(log_lines_kept);
    recorder_.emplace(std::move(facts));
    board_->when_asked_to_stop([this] { poller_.post([this] { tell(StopRequested{}); }); });
    board_->when_asked([this](UserRequest request, observe::Board::Answer answer) {
      poller_.post([this, request = std::move(request), answer = std::move(answer)]() mutable {
        if (finish_) return answer({.why = "the job is over"});
        answers_[++asked_] = std::move(answer);
        tell(UserAsked{asked_, std::move(request)});
      });
    });
    return Done{};
  }

  // The graph is known.
  void watch() {
    if (!recorder_ || !coordinator_->job()) return;
    tally_.plan(*coordinator_->job());
    recorder_->plan(*coordinator_->job());
    recorder_->joined(since_start(), 0, 0, static_cast<std::uint64_t>(::getpid()), "this process");
    show();
  }

  void show() {
    board_->publish(recorder_->look(since_start(), *coordinator_, tally_), now());
    poller_.at(now() + board_every, [this] { show(); });
  }

  Time since_start() const { return now() - start_; }

  Result<Done> open_store() {
    // Of the job of a lost `piracema run`, which has workers that are not ours.
    auto beginning =
        begin_in(options_.snapshots, options_.resume ? Start::resume : Start::anew, std::nullopt);
    if (!beginning) return beginning.error();
    beginning_ = *std::move(beginning);
    beginning_.lock->when_lost([this](const Error& why) {
      poller_.post([this, why] {
        if (!finish_) finish_ = Finish{code_of_lost, why.message};
      });
    });
    flow::StateTypes types = flow::state_types_of(graph_);
    auto ours = accept_job(beginning_, runtime::encode_shape(graph_.shape), types,
                           {.states = options_.allow_changed_state,
                            .program = options_.allow_changed_program,
                            .dropped = options_.drop_operators});
    layouts_ = std::move(types.layouts);
    if (!ours) return ours;
    settings_.found = beginning_.found;
    if (beginning_.resume) settings_.resume = beginning_.newest->snapshot;
    // Without snapshots there is nothing to do before the end that Ctrl-C asks for. First, so that
    // no thread is there that a signal would end the process through.
    signals_.emplace(poller_, [this](int number) { on_signal(number); });
    store_thread_.emplace(*beginning_.store, [this](Event event) {
      poller_.post([this, event = std::move(event)] { tell(event); });
    });
    return Done{};
  }

  void on_signal(int number) {
    if (number == SIGCHLD) return;
    switch (stop_signals_.take(number, now())) {
      case StopSignals::Meaning::nothing_new:
        return;
      case StopSignals::Meaning::end_at_once:
        ::_exit(exit_code_of_signal(number));
      case StopSignals::Meaning::stop:
        break;
    }
    log(Level::info, "stopping with a last snapshot; once more to end at once");
    tell(StopRequested{});
  }

  void tell(const Event& event) {
    if (finish_) return;
    for (const Action& action : coordinator_->step(now(), event)) {
      std::visit([this](const auto& what) { act(what); }, action);
    }
  }

  void act(const Send& send) { worker_->handle(send.message); }
  void act(const CommitSnapshot& commit) { store_thread_->act(commit); }
  void act(const DropSnapshot& drop) { store_thread_->act(drop); }
  void act(const FindSnapshot& wanted) { store_thread_->act(wanted); }
  void act(const NameSnapshot& wanted) { store_thread_->act(wanted); }
  void act(const Finish& finish) { finish_ = finish; }
  void act(const Spawn&) {}
  void act(const Kill&) {}
  void act(const AnswerRequest& answer) {
    if (auto found = answers_.extract(answer.id)) found.mapped()(answer);
  }
  // Whoever could take the job over ends with it.
  void act(const Decide&) {}
  void act(const Tell& tell) {
    if (recorder_) {
      const Time at = since_start();
      tally_.noted(at, tell.note);
      recorder_->noted(at, tell.note);
    }
    const auto* failed = std::get_if<ReplicaFailed>(&tell.note);
    if (failed != nullptr && settings_.snapshots) {
      const std::string at = failed->item ? concat(" at item ", *failed->item) : "";
      log(Level::warning, concat(failed->name, " failed", at, ": ", failed->why));
    } else if (const auto* aborted = std::get_if<SnapshotAborted>(&tell.note)) {
      log(Level::warning, concat("snapshot ", aborted->snapshot, " failed: ", aborted->why));
    } else if (const auto* busy = std::get_if<ReplicaBusy>(&tell.note)) {
      log(Level::warning, text_of(*busy));
    }
  }

  void say_what_was_late() {
    if (!coordinator_->job()) return;
    Tally last;
    last.plan(*coordinator_->job());
    last.heard(0, worker_->heartbeat(), emitted_at_restore(*coordinator_));
    for (const std::string& text : late_items(last.report)) log(Level::info, text);
  }

  void beat() {
    runtime::Heartbeat heartbeat = worker_->heartbeat();
    if (recorder_ && coordinator_->job()) {
      tally_.heard(0, heartbeat, emitted_at_restore(*coordinator_));
      recorder_->heard(since_start(), 0, heartbeat);
    }
    tell(Said{0, 0, std::move(heartbeat)});
    poller_.at(now() + settings_.heartbeat_interval, [this] { beat(); });
  }

  std::chrono::milliseconds until_deadline() const {
    const auto deadline = coordinator_->next_deadline();
    if (!deadline) return std::chrono::milliseconds(-1);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now());
    return std::max(left, std::chrono::milliseconds(0));
  }

  // Ends the replicas; those of a job that ended well have nothing to do any more.
  void leave() {
    {
      const bool stopped = finish_->code == 75;
      if (place_) place_->clear();
      const Patience patience(stopped ? stopped_timeout : return_timeout, finish_->code,
                              concat(finish_->why, stopped ? "" : "; an operator does not return"));
      worker_.reset();
    }
    store_thread_.reset();
  }

  const Graph& graph_;
  const RunOptions& options_;
  JobSettings settings_;
  const Time start_ = now();
  net::Poller poller_;
  MemoryAlarm alarm_{poller_, graph_.shape, options_.state_directory.empty()};
  Beginning beginning_;
  std::vector<std::string> layouts_;
  std::optional<StoreThread> store_thread_;
  std::optional<Signals> signals_;
  std::optional<Coordinator> coordinator_;
  std::unique_ptr<state::StateDirectory> place_;
  std::optional<runtime::Worker> worker_;
  std::optional<Finish> finish_;
  StopSignals stop_signals_;
  /// Who has asked for something and waits for the answer.
  std::map<std::uint64_t, observe::Board::Answer> answers_;
  std::uint64_t asked_ = 0;

  /// Nothing, and nobody is served, unless RunOptions::http asks for it, or whoever runs the job.
  std::optional<observe::Board> board_;
  Tally tally_;
  std::optional<observe::Recorder> recorder_;
  std::unique_ptr<observe::HttpServer> server_;
};

}  // namespace

int run_embedded(const Graph& graph, const RunOptions& options) {
  const ExitGuard guard;
  Embedded job(graph, options);
  const auto finish = job.run();
  if (!finish) {
    log(Level::error, finish.error().message);
    return finish.error().code == Errc::lost ? 4 : 3;
  }
  if (finish->code != 0) {
    log(finish->code == 75 ? Level::info : Level::error, finish->why);
  }
  return finish->code;
}

}  // namespace piracema::cluster
