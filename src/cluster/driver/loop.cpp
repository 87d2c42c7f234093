#include "cluster/driver/loop.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/job_check.h"
#include "cluster/driver/job_launch.h"
#include "cluster/driver/lock_wait.h"
#include "cluster/driver/ordered_kills.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::milliseconds look_every{250};
constexpr int garbled_max = 3;

int exit_code(Errc code) {
  switch (code) {
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
             .kill = [this](std::size_t host, Crew::Id id) { hosts_->end(host, id); },
             .ask = [this](std::size_t host, Crew::Id id) { hosts_->ask(host, id); },
             .is_here = [this](std::size_t host) { return options_.hosts[host].here; }}),
      snapshots_(poller_, {.happened = [this](const Event& event) { tell(event); },
                           .lost =
                               [this](const Error& why) {
                                 finish({Errc::lost, why.message});
                               }}),
      tenure_(options.leading, [this] { finish(0, ""); }),
      requests_(poller_, options.board,
                {.stop = [this] { stop(); },
                 .refusal = [this](const UserRequest& request) { return refusal(request); },
                 .asked = [this](UserAsked asked) { tell(std::move(asked)); }}) {}

JobReport DriverLoop::run() {
  tenure_.begin(poller_, [this](int number) { signalled(number); });
  const auto prepared = prepare();
  if (!prepared) {
    finish(prepared.error());
  } else {
    // All of them before the first process: a job whose hosts cannot be reached does not begin.
    if (!snapshots_.taken_over()) {
      while (hosts_ && !finish_ && !hosts_->all_up()) poller_.run_once(look_every);
      first_.wait_until(now() + options_.settings.join_timeout);
    }
    tell(Tick{});
    begun_ = true;
    if (listed_before_) tell(HostsListed{*std::move(listed_before_)});
  }
  while (!finish_) turn();
  requests_.close();
  if (coordinator_) account_.look_again(clock_.since_start(), *coordinator_);
  // What was asked of the store is done before anybody hears that the job is over.
  snapshots_.close();
  // Whoever ends the processes of a job has to be the one who coordinates it.
  if (still_coordinates()) {
    wait_for_all();
    if (onlookers_ && prepared) onlookers_->over(finish_->code);
    // One that could not take the job over leaves it to the next one that tries.
    Succession* const succession = tenure_.succession();
    if (succession != nullptr && (prepared || !snapshots_.taken_over())) succession->end();
  } else {
    leave_to_another();
  }
  const bool goes_on = tenure_.end(prepared ? std::nullopt : std::optional(prepared.error()));
  if (goes_on) snapshots_.leave_to_others();
  return account_.end(clock_.since_start(), finish_->code, finish_->why);
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
    if (*nothing_to_do) finish(0, **nothing_to_do);
  }
  if (finish_) return Done{};
  if (snapshots_.taken_over()) {
    // Of such a job the one before may have said that they are kept.
    if (auto can = check_keeping(options_); !can) return can;
    go_on_after_another();
  } else {
    coordinator_ = std::make_unique<Coordinator>(settings);
  }
  first_.wait_until(clock_.start() + settings.join_timeout);
  for (const KillOrder& order : options_.kills) account_.report().kills.push_back({.order = order});
  return open_door();
}

void DriverLoop::go_on_after_another() {
  coordinator_ = std::make_unique<Coordinator>(*snapshots_.taken_over()->metadata);
  const JobMetadata& metadata = coordinator_->metadata();
  options_.settings.slots = metadata.slots_wanted();
  // One that was lost before its first decision has not started anybody.
  if (metadata.term == 0) return;
  first_.join();
  for (Slot slot = 0; slot < metadata.slots_wanted(); ++slot) {
    crew_.expect({slot, metadata.incarnations[slot]});
  }
}

Result<Fd> DriverLoop::stand_by(const std::string& lock_path, const std::string& why) {
  observer_.standing_by(why);
  LockWait wait(poller_, lock_path);
  while (!wait.done() && !finish_) poller_.run_once(std::chrono::milliseconds(1'000));
  if (finish_) return Error{Errc::failed, finish_->why};
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
  }
  auto door = Door::open(poller_, token,
                         {.expected = [this](const runtime::Hello& hello) -> Result<Done> {
                            if (crew_.expects({hello.slot, hello.incarnation})) return Done{};
                            if (!still_coordinates()) {
                              return Error{Errc::lost, "another one coordinates the job"};
                            }
                            return Error{Errc::refused,
                                         concat("nobody is expected as incarnation ",
                                                hello.incarnation, " of worker ", hello.slot)};
                          },
                          .joined = [this](const runtime::Hello& hello,
                                           Door::Line line) { return joined(hello, line); },
                          .agent = [this](const AgentHello& hello,
                                          Door::Line line) -> Result<net::Connection::Events> {
                            if (hosts_) return hosts_->joined(hello, std::move(line));
                            return Error{Errc::refused, "there are no agents in this job"};
                          },
                          .onlooker = welcome_onlookers()},
                         options_.leading != nullptr ? options_.leading->host : "127.0.0.1",
                         options_.leading != nullptr ? options_.leading->port : std::uint16_t{0},
                         options_.plain ? net::Sealed::nowhere : net::Sealed::between_hosts);
  if (!door) return door.error();
  door_ = *std::move(door);
  Doorway doorway{door_->address(), token, ""};
  if (!options_.listen.empty()) {
    auto listens = door_->listen(options_.listen);
    if (!listens) return listens.error();
    doorway.address = *std::move(listens);
    auto mark = snapshots_.mark();
    if (!mark) return mark.error();
    doorway.mark = *std::move(mark);
  }
  launch_ = launch_of(options_, doorway, tenure_.succession());
  if (options_.transport == "mpi") make_world(doorway);
  if (auto called = call_hosts(doorway); !called) return called;
  if (Succession* const succession = tenure_.succession()) {
    if (auto told = succession->listens(door_->addresses()); !told) return told;
  }
  if (!options_.settings.workers_come) return Done{};
  for (Slot slot = 0; slot < options_.settings.slots; ++slot) crew_.expect({slot, 0});
  if (at_door_) at_door_(doorway);
  return Done{};
}

std::function<net::Connection::Events(Door::Line)> DriverLoop::welcome_onlookers() {
  if (options_.leading == nullptr) return {};
  Onlookers::Asked asked;
  if (options_.board != nullptr) {
    page_desk_.emplace(*options_.board);
    asked = [this](const PageAsked& question, PageDesk::Reply reply) {
      page_desk_->ask(question, std::move(reply));
    };
  }
  onlookers_.emplace(options_.leading->handed_on, std::move(asked));
  return [this](Door::Line line) { return onlookers_->joined(std::move(line)); };
}

Result<Done> DriverLoop::call_hosts(const Doorway& doorway) {
  // What mpirun starts, or somebody else, needs no agents.
  if (options_.transport == "mpi" || options_.settings.workers_come) return Done{};
  const HostsOfJob& known = coordinator_->metadata().hosts;
  if (!known.hosts.empty()) use_hosts(known, options_);
  if (options_.hosts.empty()) {
    options_.hosts = {{.name = "this host", .address = "127.0.0.1", .here = true}};
    options_.host_of_slot.assign(coordinator_->metadata().slots_wanted(), 0);
  }
  const bool elsewhere = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                     [](const HostOptions& host) { return !host.here; });
  std::string mark = doorway.mark;
  if (elsewhere || !options_.watched_hostfile.empty()) {
    auto left = snapshots_.mark();
    if (!left) return left.error();
    mark = *std::move(left);
  }
  hosts_ = std::make_unique<JobHosts>(
      poller_, options_, crew_, *door_, doorway.token,
      AgentSetup(options_, tenure_.succession(), launch_.environment, mark),
      JobHosts::Events{
          .failed = [this](const Error& why) { finish(why); },
          .over = [this](int code, std::string why) { finish(code, std::move(why)); },
          .started = [this] { account_.started(1); },
          .never_ran = [this](Crew::Id id, std::string why) { never_ran(id, std::move(why)); },
          .moves_wished =
              [this](std::vector<Slot> slots, bool drains) {
                tell(MovesWished{std::move(slots), drains});
              },
          .hosts_change = [this](HostsOfJob now) { return hosts_change(std::move(now)); },
          .anybody_joined = [this] { return first_.has_joined(); },
          .still_coordinates = [this] { return still_coordinates(); },
          .time = [this] { return clock_.time(); }});
  if (!snapshots_.taken_over()) return hosts_->call_all();
  return hosts_->wait_for_all(now() + coordinator_->metadata().settings.attach_timeout,
                              coordinator_->metadata().term + 1, known);
}

// The first thing that a coordinator is told begins the job, and that waits for all its hosts.
bool DriverLoop::hosts_change(HostsOfJob now) {
  if (begun_) {
    tell(HostsListed{std::move(now)});
  } else {
    listed_before_ = std::move(now);
  }
  return !finish_.has_value();
}

void DriverLoop::make_world(const Doorway& doorway) {
  world_ = std::make_unique<World>(
      poller_, options_, crew_, launch_, doorway.mark,
      World::Events{.start =
                        [this](const std::vector<Crew::Id>& ids, Launch launch) {
                          if (finish_) return;
                          account_.started(static_cast<std::uint32_t>(ids.size()));
                          auto started = crew_.start_world(ids, std::move(launch));
                          if (!started) finish(started.error());
                        },
                    .given_up =
                        [this](std::string why) {
                          if (!finish_) finish(4, std::move(why));
                        }});
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
  if (first_.is_late(at)) {
    const std::chrono::duration<double> waited = options_.settings.join_timeout;
    finish(3, concat("'", options_.command.front(), "' has not joined within ",
                     human_seconds(waited.count()), ": is it a Piracema program?"));
  }
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
  if (hosts_) hosts_->look();
  if (Succession* const succession = tenure_.succession()) succession->show_life();
  if (options_.leading != nullptr) {
    const std::vector<std::string> doors = tenure_.succession()->doors();
    crew_.show_life(doors);
    onlookers_->show_life(doors);
  }
  const Time at = clock_.since_start();
  if (account_.has_plan()) observer_.progressed(at, account_.report());
  account_.show(now, at, *coordinator_, [this] {
    std::vector<JobAccount::HostNow> hosts;
    for (std::size_t host = 0; hosts_ && host < options_.hosts.size(); ++host) {
      hosts.push_back({options_.hosts[host].name, hosts_->state_of(host)});
    }
    return hosts;
  });
}

net::Connection::Events DriverLoop::joined(const runtime::Hello& hello, Door::Line line) {
  const Crew::Id id{hello.slot, hello.incarnation};
  const auto host = crew_.host_of(id);
  account_.joined(clock_.since_start(), hello, host ? options_.hosts[*host].name : "this host");
  crew_.join(id, std::move(line), static_cast<pid_t>(hello.pid));
  crew_.heard(id, clock_.time());
  if (world_) world_->joined();
  Replicas replicas;
  if (first_.join() && hello.hindrance.empty()) {
    if (auto kept = snapshots_.accept(hello, options_)) {
      replicas = *std::move(kept);
      for (const Crew::Id& waits : first_.take()) hosts_->start(waits);
    } else {
      finish(kept.error());
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
  if (auto right = check_kills(options_.kills, job); !right) return finish(right.error());
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

// It has our secret and our version, but not our language. Once may be a broken machine, and is a
// loss as any other; again and again it is another program, and replacing it would never end.
void DriverLoop::garbled(Crew::Id id, const std::string& why) {
  garbled_ += 1;
  if (garbled_ == garbled_max) {
    return finish(Error{Errc::config, concat("worker ", id.first,
                                             " says what no worker of this "
                                             "version says, ",
                                             garbled_max, " times now: ", why)});
  }
  log(Level::warning, concat("worker ", id.first, ": ", why));
  crew_.kill(id);
}

void DriverLoop::exited(const Exited& event, const Exit& exit) {
  account_.ended(exit);
  // Before anybody has joined, too: whoever sends signals, or a host that is lost, says nothing of
  // the program.
  if (first_.has_joined() || exit.by_signal || exit.from_outside) {
    first_.wait_until(clock_.time() + options_.settings.join_timeout);
    tell(event);
    if (world_) world_->start_when_complete();
    return;
  }
  // The program has said why it takes its arguments or settings for wrong: its code is ours.
  const bool refused = exit.status == 2 || exit.status == 3;
  finish(refused ? *exit.status : 3,
         concat("'", options_.command.front(), "' left without joining (", exit.how, ")",
                refused ? "" : ": is it a Piracema program?"));
}

void DriverLoop::signalled(int number) {
  if (number == SIGCHLD) {
    if (hosts_) hosts_->reap_all();
    if (world_) world_->reap_all();
    return crew_.reap_all();
  }
  const auto meaning = stop_signals_.take(now());
  if (meaning == StopSignals::Meaning::nothing_new) return;
  if (meaning == StopSignals::Meaning::end_at_once || !first_.has_joined()) {
    return finish(128 + number, "ended at once by a signal");
  }
  stop_signal_ = number;
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
  if (finish_) return "the job is over";
  return std::nullopt;
}

void DriverLoop::tell(const Event& event) {
  if (finish_) return;
  for (Action& action : coordinator_->step(clock_.time(), event)) {
    if (finish_) return;
    std::visit([this](auto& what) { act(what); }, action);
  }
}

// ---- what the coordinator wants -----------------------------------------------------------------

void DriverLoop::act(const Spawn& spawn) {
  const Crew::Id id{spawn.slot, spawn.incarnation};
  options_.settings.slots = coordinator_->metadata().slots_wanted();
  if (world_) return world_->want(id);
  hosts_->give_hosts();
  if (!first_.has_joined() && crew_.size() != 0) {
    first_.hold(id);
  } else {
    hosts_->start(id);
  }
}

// Told later, as an event of its own: the coordinator is in the middle of a step.
void DriverLoop::never_ran(Crew::Id id, std::string why) {
  poller_.post([this, id, why = std::move(why)] {
    tell(Exited{.slot = id.first, .incarnation = id.second, .by = why});
  });
}

void DriverLoop::act(const Kill& kill) {
  const Crew::Id id{kill.slot, kill.incarnation};
  const bool waited = first_.drop(id) || (hosts_ && hosts_->waits_no_more(id)) ||
                      (world_ && world_->want_no_more(id));
  if (waited) {
    never_ran(id, "it was never started");
  }
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
  const bool by_sigint = finished.code == 128 + SIGTERM && stop_signal_ == SIGINT;
  finish(by_sigint ? 128 + SIGINT : finished.code, finished.why);
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

void DriverLoop::finish(int code, std::string why) {
  if (!finish_) finish_ = Finish{code, std::move(why)};
}

void DriverLoop::finish(const Error& error) { finish(exit_code(error.code), error.message); }

// Another one may coordinate the job meanwhile, and this one not know it: asked for before anybody
// is ended for another reason than a decision.
bool DriverLoop::still_coordinates() {
  if (tenure_.succession() == nullptr) return !tenure_.is_over();
  return tenure_.decided({}, coordinator_->metadata());
}

// Whoever is still on a line finds the one that coordinates when that line ends.
void DriverLoop::leave_to_another() {
  if (door_) door_->shut();
  if (onlookers_) onlookers_->leave();
  if (hosts_) hosts_->let_go();
}

void DriverLoop::wait_for_all() {
  if (hosts_) hosts_->stop_following();
  if (door_) door_->hold();
  crew_.let_go();
  crew_.kill_all();
  if (hosts_) hosts_->leave();
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
