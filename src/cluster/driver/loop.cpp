#include "cluster/driver/loop.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/job_check.h"
#include "cluster/driver/lock_wait.h"
#include "cluster/driver/ordered_kills.h"
#include "os/exit_code.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::milliseconds look_every{250};

}  // namespace

DriverLoop::DriverLoop(const JobOptions& options, JobObserver& observer,
                       std::function<void(const Doorway&)> at_door)
    : options_(options),
      observer_(observer),
      at_door_(std::move(at_door)),
      signals_(poller_, [this](int number) { signalled(number); }),
      account_(options.board, options.leading != nullptr),
      crew_(poller_,
            {.exited = [this](const Exited& event, const Exit& exit) { exited(event, exit); },
             .connection_lost =
                 [this](Crew::Id id) {
                   tell(ConnectionLost{id.first, id.second});
                 },
             .kill = [this](std::size_t host, Crew::Id id) { launcher_.end(host, id); },
             .ask = [this](std::size_t host, Crew::Id id) { launcher_.ask(host, id); },
             .is_here = [this](std::size_t host) { return options_.hosts[host].here; }}),
      snapshots_(poller_, {.happened = [this](const Event& event) { tell(event); },
                           .lost =
                               [this](const Error& why) {
                                 ending_.say({Errc::lost, why.message});
                               }}),
      tenure_(options.leading, [this] { ending_.say(0, ""); }),
      launcher_(
          poller_, options_, crew_,
          {.failed = [this](const Error& why) { ending_.say(why); },
           .over = [this](int code, std::string why) { ending_.say(code, std::move(why)); },
           .started = [this](std::uint32_t processes) { account_.started(processes); },
           .never_ran = [this](Crew::Id id, std::string why) { never_ran(id, std::move(why)); },
           .moves_wished =
               [this](std::vector<Slot> slots, bool drains) {
                 tell(MovesWished{std::move(slots), drains});
               },
           .hosts_change = [this](HostsOfJob now) { tell(HostsListed{std::move(now)}); },
           .still_coordinates = [this] { return still_coordinates(); },
           .is_over = [this] { return ending_.is_known(); },
           .time = [this] { return clock_.time(); }}),
      requests_(poller_, options.board,
                {.stop = [this] { stop(); },
                 .refusal = [this](const UserRequest& request) { return refusal(request); },
                 .asked = [this](UserAsked asked) { tell(std::move(asked)); }}) {}

JobReport DriverLoop::run() {
  tenure_.begin(poller_, [this](int number) { signalled(number); });
  const auto prepared = prepare();
  if (!prepared) {
    ending_.say(prepared.error());
  } else {
    // All of them before the first process: a job whose hosts cannot be reached does not begin.
    if (!snapshots_.taken_over()) {
      while (!ending_.is_known() && !launcher_.is_ready()) poller_.run_once(look_every);
      launcher_.wait_for_first(now());
    }
    tell(Tick{});
    launcher_.job_begins();
  }
  while (!ending_.is_known()) turn();
  requests_.close();
  if (coordinator_) account_.look_again(clock_.since_start(), *coordinator_);
  // What was asked of the store is done before anybody hears that the job is over.
  snapshots_.close();
  // Whoever ends the processes of a job has to be the one who coordinates it.
  if (still_coordinates()) {
    wait_for_all();
    // That takes its time, and another one may have taken the job over by now.
    if (!is_over_for_all(prepared.ok())) tenure_.depose();
    if (entrance_ && prepared && !tenure_.is_over()) entrance_->over(ending_.finish().code);
  }
  if (tenure_.is_over()) leave_to_another();
  const bool goes_on = tenure_.end(prepared ? std::nullopt : std::optional(prepared.error()));
  if (goes_on) snapshots_.leave_to_others();
  return account_.end(clock_.since_start(), ending_.finish().code, ending_.finish().why);
}

// ---- how it begins ------------------------------------------------------------------------------

Result<Done> DriverLoop::prepare() {
  JobSettings settings = options_.settings;
  settings.snapshots = !options_.snapshots.empty();
  settings.dead_letters = !options_.dead_letters.empty();
  if (auto can = check_job(options_, settings); !can) return can;
  if (settings.snapshots) {
    const auto nothing_to_do = snapshots_.begin(
        options_, settings,
        [this](const std::string& lock, const std::string& why) { return stand_by(lock, why); });
    if (!nothing_to_do) return nothing_to_do.error();
    if (*nothing_to_do) ending_.say(0, **nothing_to_do);
  }
  if (ending_.is_known()) return Done{};
  if (snapshots_.taken_over()) {
    // Of such a job the one before may have said that they are kept.
    if (auto can = check_keeping(options_); !can) return can;
    go_on_after_another();
  } else {
    coordinator_ = std::make_unique<Coordinator>(settings);
  }
  launcher_.wait_for_first(clock_.start());
  for (const KillOrder& order : options_.kills) account_.report().kills.push_back({.order = order});
  return open_door();
}

void DriverLoop::go_on_after_another() {
  coordinator_ = std::make_unique<Coordinator>(*snapshots_.taken_over()->metadata);
  if (options_.leading == nullptr) {
    account_.goes_on();
    const auto past = PastFile::find(snapshots_.directory(), snapshots_.taken_over()->token);
    if (past) account_.take_past(*past);
  }
  const JobMetadata& metadata = coordinator_->metadata();
  options_.settings.slots = metadata.slots_wanted();
  // One that was lost before its first decision has not started anybody.
  if (metadata.term != 0) launcher_.take_over(metadata);
}

Result<Fd> DriverLoop::stand_by(const std::string& lock_path, const std::string& why) {
  observer_.standing_by(why);
  LockWait wait(poller_, lock_path);
  while (!wait.done() && !ending_.is_known()) poller_.run_once(std::chrono::milliseconds(1'000));
  if (ending_.is_known()) return Error{Errc::failed, ending_.finish().why};
  return wait.take();
}

Result<Done> DriverLoop::open_door() {
  const std::string token = snapshots_.taken_over()       ? snapshots_.taken_over()->token
                            : options_.leading != nullptr ? options_.leading->token
                                                          : net::draw_token();
  if (options_.keep_workers.count() != 0) {
    auto can = tenure_.let_others_follow(snapshots_.directory(), token, options_.keep_workers,
                                         coordinator_->metadata());
    if (!can) return can;
    if (options_.board != nullptr && options_.leading == nullptr) {
      past_file_.emplace(snapshots_.directory(), token);
      past_news_.emplace(*options_.board);
    }
  }
  auto entrance = Entrance::open(
      poller_, options_, token,
      {.expected = [this](const runtime::Hello& hello) { return expected(hello); },
       .joined = [this](const runtime::Hello& hello,
                        Door::Line line) { return joined(hello, std::move(line)); },
       .agent = [this](const AgentHello& hello,
                       Door::Line line) { return launcher_.agent_joined(hello, std::move(line)); },
       .past = [this](const PastOfJob& past) { account_.take_past(past); }});
  if (!entrance) return entrance.error();
  entrance_ = *std::move(entrance);
  Doorway doorway{entrance_->address(), token, ""};
  if (!options_.listen.empty()) {
    auto mark = snapshots_.mark();
    if (!mark) return mark.error();
    doorway.mark = *std::move(mark);
  }
  Succession* const succession = tenure_.succession();
  auto begun =
      launcher_.begin(doorway, entrance_->door(), coordinator_->metadata(), snapshots_, succession);
  if (begun && succession != nullptr) begun = succession->listens(entrance_->door().addresses());
  if (begun && options_.settings.workers_come && at_door_) at_door_(doorway);
  return begun;
}

Result<Done> DriverLoop::expected(const runtime::Hello& hello) {
  if (crew_.expects({hello.slot, hello.incarnation})) return Done{};
  if (!still_coordinates()) return Error{Errc::lost, "another one coordinates the job"};
  return Error{Errc::refused, concat("nobody is expected as incarnation ", hello.incarnation,
                                     " of worker ", hello.slot)};
}

// ---- what happens -------------------------------------------------------------------------------

void DriverLoop::turn() {
  const Time deadline = coordinator_->next_deadline().value_or(Time::max());
  const Time until = std::min(deadline, next_look_);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now());
  poller_.run_once(std::max(wait, std::chrono::milliseconds(0)));

  // What has arrived by now is told first, as of now: after a pause of this process (a busy
  // machine, Ctrl-Z) signs of life lie unread, and nobody was silent.
  const Time at = clock_.stand_still();
  poller_.run_once(std::chrono::milliseconds(0));
  if (auto late = launcher_.lateness(at)) ending_.say(late->code, std::move(late->why));
  const auto is_due = [this, at] {
    const auto due = coordinator_->next_deadline();
    return due && *due <= at;
  };
  if (is_due()) vouch(at);
  if (is_due()) tell(Tick{});
  if (at >= next_look_) look(at);
  clock_.go_on();
}

// On a machine that is too busy a sign of life comes late. The kernel knows who would send one
// if it could, and speaks for it, for a while.
void DriverLoop::vouch(Time now) {
  const JobSettings& settings = options_.settings;
  const Time silent = settings.heartbeat_timeout - settings.heartbeat_interval / 2;
  for (const Crew::Id& id : crew_.held_up(now, silent)) {
    tell(Said{id.first, id.second, runtime::Heartbeat{.epoch = coordinator_->epoch()}});
  }
}

void DriverLoop::look(Time now) {
  next_look_ = now + look_every;
  crew_.kill_stopped_starters(now, options_.settings.heartbeat_timeout);
  launcher_.look();
  if (Succession* const succession = tenure_.succession()) succession->show_life();
  if (options_.leading != nullptr) {
    const std::vector<std::string> doors = tenure_.succession()->doors();
    crew_.show_life(doors);
    entrance_->show_life(doors);
  }
  const Time at = clock_.since_start();
  if (account_.has_plan()) observer_.progressed(at, account_.report());
  account_.show(now, at, *coordinator_, [this] { return launcher_.hosts(); });
  if (!past_news_) return;
  if (const auto past = past_news_->next(now)) past_file_->write(*past);
}

net::Connection::Events DriverLoop::joined(const runtime::Hello& hello, Door::Line line) {
  const Crew::Id id{hello.slot, hello.incarnation};
  const auto host = crew_.host_of(id);
  account_.joined(clock_.since_start(), hello, host ? options_.hosts[*host].name : "this host");
  crew_.join(id, std::move(line), static_cast<pid_t>(hello.pid));
  crew_.heard(id, clock_.time());
  Replicas replicas;
  if (launcher_.joined() && hello.hindrance.empty()) {
    if (auto kept = snapshots_.accept(hello, options_)) {
      replicas = *std::move(kept);
      launcher_.start_others();
    } else {
      ending_.say(kept.error());
    }
  }
  tell(Joined{id.first, id.second, hello.address, hello.graph, hello.costs, hello.states.layouts,
              hello.hindrance, std::move(replicas)});
  // From now on it notices when this coordinator falls silent.
  if (options_.leading != nullptr) crew_.show_life(tenure_.succession()->doors());
  if (const auto& job = coordinator_->job(); job && !account_.has_plan()) plan(*job);
  return {.received = [this, id](wire::Frame frame) { heard(id, frame); },
          .lost = [this, id](const Error&) { crew_.line_lost(id); }};
}

void DriverLoop::plan(const Job& job) {
  account_.plan(job);
  if (auto right = check_kills(options_.kills, job); !right) return ending_.say(right.error());
  observer_.planned(job, account_.report());
}

void DriverLoop::heard(Crew::Id id, const wire::Frame& frame) {
  auto message = runtime::from_worker(frame);
  if (!message) return garbled(id, message.error().message);
  crew_.heard(id, clock_.time());
  tell(Said{id.first, id.second, *message});
  // What a process of old says is not of the one that has its slot now.
  if (crew_.newest(id.first) == id) account_.said(clock_.since_start(), id.first, *message);
  const auto* heartbeat = std::get_if<runtime::Heartbeat>(&*message);
  if (heartbeat == nullptr || !account_.has_plan()) return;
  account_.beats(id.first, *heartbeat, *coordinator_);
  if (coordinator_->phase() == Phase::running) inject_kills();
}

void DriverLoop::garbled(Crew::Id id, const std::string& why) {
  if (const auto too_many = garbled_.take(id.first, why)) return ending_.say(*too_many);
  log(Level::warning, concat("worker ", id.first, ": ", why));
  crew_.kill(id);
}

void DriverLoop::exited(const Exited& event, const Exit& exit) {
  account_.ended(exit);
  if (auto over = launcher_.ended(exit)) return ending_.say(over->code, std::move(over->why));
  tell(event);
  launcher_.start_when_complete();
}

void DriverLoop::signalled(int number) {
  if (number == SIGCHLD) {
    launcher_.reap_all();
    return crew_.reap_all();
  }
  const auto meaning = stop_signals_.take(number, now());
  if (meaning == StopSignals::Meaning::nothing_new) return;
  if (meaning == StopSignals::Meaning::end_at_once || !launcher_.anybody_joined()) {
    return ending_.say(exit_code_of_signal(number), "ended at once by a signal");
  }
  stop();
}

void DriverLoop::stop() {
  observer_.stopping(clock_.since_start());
  tell(StopRequested{});
}

std::optional<std::string> DriverLoop::refusal(const UserRequest& request) const {
  const auto* scale = std::get_if<ScaleRequest>(&request);
  if (options_.transport == "mpi" && scale != nullptr && scale->slots) {
    return "one mpirun has started all workers, and no others can come";
  }
  if (ending_.is_known()) return "the job is over";
  return std::nullopt;
}

void DriverLoop::tell(const Event& event) {
  if (ending_.is_known()) return;
  for (Action& action : coordinator_->step(clock_.time(), event)) {
    if (ending_.is_known()) return;
    std::visit([this](auto& what) { act(what); }, action);
  }
}

// ---- what the coordinator wants -----------------------------------------------------------------

void DriverLoop::act(const Spawn& spawn) {
  options_.settings.slots = coordinator_->metadata().slots_wanted();
  launcher_.start({spawn.slot, spawn.incarnation});
}

// Told later, as an event of its own: the coordinator is in the middle of a step.
void DriverLoop::never_ran(Crew::Id id, std::string why) {
  poller_.post([this, id, why = std::move(why)] {
    tell(Exited{.slot = id.first, .incarnation = id.second, .by = why});
  });
}

void DriverLoop::act(const Kill& kill) {
  const Crew::Id id{kill.slot, kill.incarnation};
  if (launcher_.need_not_start(id)) never_ran(id, "it was never started");
  if (!options_.cannot_end_processes) crew_.kill(id);
}

void DriverLoop::act(const Send& send) { crew_.send({send.slot, send.incarnation}, send.message); }

void DriverLoop::act(const Tell& what) {
  const Time at = clock_.since_start();
  account_.noted(at, what.note);
  observer_.noted(at, what.note);
}

// The first action of its step: whatever follows is done after it.
void DriverLoop::act(const Decide& decided) {
  tenure_.decided(decided.decisions, coordinator_->metadata());
}

void DriverLoop::act(const Finish& finished) {
  // The coordinator does not know which signal it was.
  ending_.say(stop_signals_.code_of(finished.code), finished.why);
}

void DriverLoop::inject_kills() {
  const Job& job = *coordinator_->job();
  for (const DueKill& due : kills_due(account_.report(), job)) {
    due.kill->killed_at = clock_.since_start();
    if (const auto id = crew_.newest(due.kill->slot)) crew_.kill(*id);
    observer_.killed(*due.kill->killed_at, *due.kill, job.name(due.replica));
  }
}

// ---- how it ends --------------------------------------------------------------------------------

// Another one may coordinate the job meanwhile, and this one not know it: asked for before anybody
// is ended for another reason than a decision.
bool DriverLoop::still_coordinates() {
  if (tenure_.succession() == nullptr) return !tenure_.is_over();
  return tenure_.decided({}, coordinator_->metadata());
}

// One that could not take the job over leaves it to the next one that tries.
bool DriverLoop::is_over_for_all(bool prepared) {
  Succession* const succession = tenure_.succession();
  if (succession == nullptr || (!prepared && snapshots_.taken_over())) return true;
  return !tenure_.is_over() && succession->end(ending_.finish().code, ending_.finish().why);
}

// Whoever is still on a line finds the one that coordinates when that line ends.
void DriverLoop::leave_to_another() {
  if (entrance_) entrance_->shut();
  launcher_.let_go();
}

void DriverLoop::wait_for_all() {
  launcher_.stop_following();
  if (entrance_) entrance_->hold();
  crew_.let_go();
  crew_.kill_all();
  launcher_.leave();
  while (crew_.size() != 0) poller_.run_once(look_every);
}

JobReport run_job(const JobOptions& options, JobObserver& observer,
                  const std::function<void(const Doorway&)>& at_door) {
  return DriverLoop(options, observer, at_door).run();
}

JobReport run_job(const JobOptions& options, JobObserver& observer) {
  return DriverLoop(options, observer).run();
}

}  // namespace piracema::cluster
