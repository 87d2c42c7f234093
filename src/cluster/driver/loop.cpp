#include "cluster/driver/loop.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/job_check.h"
#include "cluster/driver/job_launch.h"
#include "cluster/driver/record_log.h"
#include "store/disk/file_lock.h"
#include "store/open_store.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::milliseconds look_every{250}, show_every{1'000};

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
      crew_(poller_,
            {.exited = [this](const Exited& event, const Exit& exit) { exited(event, exit); },
             .connection_lost =
                 [this](Crew::Id id) {
                   tell(ConnectionLost{id.first, id.second});
                 },
             .kill = [this](std::size_t host, Crew::Id id) { hosts_->end(host, id); },
             .ask = [this](std::size_t host, Crew::Id id) { hosts_->ask(host, id); },
             .is_here = [this](std::size_t host) { return options_.hosts[host].here; }}) {}

JobReport DriverLoop::run() {
  if (options_.board != nullptr) {
    observe::JobFacts facts = options_.board->latest()->facts;
    // Of several coordinators this one has begun to lead.
    if (options_.leading != nullptr) facts.coordinator = observe::coordinator_from_now_on();
    recorder_ = std::make_unique<observe::Recorder>(std::move(facts));
    options_.board->when_asked_to_stop([this] { poller_.post([this] { stop(); }); });
    options_.board->when_asked([this](UserRequest request, observe::Board::Answer answer) {
      poller_.post([this, request = std::move(request), answer = std::move(answer)]() mutable {
        user_asked(std::move(request), std::move(answer));
      });
    });
  }
  if (options_.leading != nullptr) {
    options_.leading->at_work->set(
        {.depose = [this] { poller_.post([this] { depose(); }); },
         .signal = [this](int number) { poller_.post([this, number] { signalled(number); }); }});
  }
  const auto prepared = prepare();
  if (!prepared) {
    finish(prepared.error());
  } else {
    if (!takes_over_) wait_for_hosts();
    tell(Tick{});
    begun_ = true;
    if (listed_before_) tell(HostsListed{*std::move(listed_before_)});
  }
  while (!finish_) turn();
  if (options_.board != nullptr) {
    options_.board->when_asked_to_stop({});
    options_.board->when_asked({});
  }
  // What has happened since the last look is shown, too.
  if (recorder_ && coordinator_) recorder_->look(since_start(), *coordinator_, tally_);
  // What was asked of the store is done before anybody hears that the job is over.
  store_thread_.reset();
  // Whoever ends the processes of a job has to be the one who coordinates it.
  if (still_coordinates()) {
    wait_for_all();
    if (onlookers_ && prepared) onlookers_->over(finish_->code);
    // One that could not take the job over leaves it to the next one that tries.
    if (succession_ && (prepared || !beginning_.taken_over)) succession_->end();
  } else {
    leave_to_another();
  }
  if (options_.leading != nullptr) {
    options_.leading->at_work->set({});
    options_.leading->at_work->has_left({});
    options_.leading->deposed = deposed_;
    options_.leading->failed = !deposed_ && !prepared && options_.leading->left;
    options_.leading->may_try_again =
        options_.leading->failed && prepared.error().code == Errc::timeout;
    if ((deposed_ || options_.leading->failed) && beginning_.lock) {
      beginning_.lock->leave_to_others();
    }
  }
  return make_report();
}

Result<Done> DriverLoop::prepare() {
  JobSettings settings = options_.settings;
  settings.snapshots = !options_.snapshots.empty();
  settings.dead_letters = !options_.dead_letters.empty();
  if (auto can = check_job(options_, settings); !can) return can;
  if (settings.snapshots) {
    if (auto begun = begin_with_snapshots(settings); !begun) return begun;
  }
  if (finish_) return Done{};
  if (takes_over_) {
    // Of such a job the one before may have said that they are kept.
    if (auto can = check_keeping(options_); !can) return can;
    coordinator_ = std::make_unique<Coordinator>(*beginning_.taken_over->metadata);
    const JobMetadata& metadata = coordinator_->metadata();
    options_.settings.slots = metadata.slots_wanted();
    // One that was lost before its first decision has not started anybody.
    anybody_joined_ = metadata.term != 0;
    for (Slot slot = 0; anybody_joined_ && slot < metadata.slots_wanted(); ++slot) {
      crew_.expect({slot, metadata.incarnations[slot]});
    }
  } else {
    coordinator_ = std::make_unique<Coordinator>(settings);
  }
  join_by_ = start_ + settings.join_timeout;
  for (const KillOrder& order : options_.kills) tally_.report.kills.push_back({.order = order});
  return open_door();
}

Result<Done> DriverLoop::begin_with_snapshots(JobSettings& settings) {
  const Start start = options_.standby  ? Start::standby
                      : options_.resume ? Start::resume
                                        : Start::anew;
  const bool led_before = options_.leading != nullptr && options_.leading->left;
  store::JobClaim claim;
  if (options_.leading != nullptr) {
    claim = {net::public_name(options_.leading->token), options_.keep_workers};
  }
  auto beginning = led_before
                       ? go_on_in(options_.snapshots, *options_.leading->left, claim)
                       : begin_in(
                             options_.snapshots, start,
                             settings.workers_come ? std::nullopt : std::optional(settings.slots),
                             [this](const std::string& lock_path, const std::string& why) {
                               return stand_by(lock_path, why);
                             },
                             options_.from, claim);
  if (!beginning) return beginning.error();
  if (options_.leading != nullptr && beginning->lock && beginning->lock->file() != nullptr) {
    Fd& file = *beginning->lock->file();
    if (auto shared = store::share_lock(file); !shared) return shared;
    *options_.leading->lock = std::move(file);
  }
  if (beginning->lock) {
    beginning->lock->when_lost([this](const Error& why) {
      poller_.post([this, why] { finish({Errc::lost, why.message}); });
    });
  }
  beginning_ = *std::move(beginning);
  takes_over_ = beginning_.taken_over.has_value();
  if (takes_over_) {
    options_.keep_workers = std::max(options_.keep_workers, beginning_.taken_over->keep);
  } else if (options_.standby) {
    finish(0, concat("the job of ", options_.snapshots, " is over"));
  } else if (options_.resume) {
    const store::Manifest& newest = *beginning_.newest;
    settings.resume = newest.snapshot;
    settings.found = beginning_.found;
    if (newest.finished) {
      finish(0, concat("nothing to resume: the run had ended with snapshot ", newest.snapshot));
    }
  }
  store_thread_ = std::make_unique<StoreThread>(*beginning_.store, [this](Event event) {
    poller_.post([this, event = std::move(event)] { tell(event); });
  });
  return Done{};
}

Result<Fd> DriverLoop::stand_by(const std::string& lock_path, const std::string& why) {
  observer_.standing_by(why);
  LockWait wait(poller_, lock_path);
  while (!wait.done() && !finish_) poller_.run_once(std::chrono::milliseconds(1'000));
  if (finish_) return Error{Errc::failed, finish_->why};
  return wait.take();
}

Result<Done> DriverLoop::prepare_succession(const std::string& token) {
  if (options_.keep_workers.count() == 0) return Done{};
  const std::string* const directory = beginning_.store->directory();
  const std::string snapshots = directory != nullptr ? *directory : "";
  auto log = options_.leading != nullptr
                 ? options_.leading->log(snapshots, token, options_.keep_workers)
                 : std::make_unique<RecordLog>(snapshots, token, options_.keep_workers);
  auto begun = Succession::begin(std::move(log), snapshots, token, options_.keep_workers,
                                 coordinator_->metadata());
  if (!begun) {
    // Somebody has claimed the job meanwhile.
    if (options_.leading != nullptr && begun.error().code == Errc::refused) depose();
    return begun.error();
  }
  succession_ = *std::move(begun);
  return Done{};
}

Result<Done> DriverLoop::open_door() {
  const std::string token = takes_over_                   ? beginning_.taken_over->token
                            : options_.leading != nullptr ? options_.leading->token
                                                          : net::draw_token();
  if (auto prepared = prepare_succession(token); !prepared) return prepared;
  auto door =
      Door::open(poller_, token,
                 {.expected = [this](const runtime::Hello& hello) { return expected(hello); },
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
    if (auto left = leave_mark(); !left) return left;
    if (mark_) doorway.mark = mark_->path();
  }
  prepare_launch(doorway);
  if (auto called = call_hosts(doorway); !called) return called;
  if (succession_) {
    if (auto told = succession_->listens(door_->addresses()); !told) return told;
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

void DriverLoop::prepare_launch(const Doorway& doorway) {
  launch_ = launch_of(options_, doorway, succession_ ? &*succession_ : nullptr);
  if (options_.transport == "mpi") make_world(doorway);
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
  if (elsewhere || !options_.watched_hostfile.empty()) {
    if (auto left = leave_mark(); !left) return left;
  }
  hosts_ = std::make_unique<JobHosts>(
      poller_, options_, crew_, *door_, doorway.token,
      AgentSetup(options_, succession_ ? &*succession_ : nullptr, launch_.environment,
                 mark_ ? mark_->path() : ""),
      JobHosts::Events{
          .failed = [this](const Error& why) { finish(why); },
          .over = [this](int code, std::string why) { finish(code, std::move(why)); },
          .started = [this] { tally_.report.processes_started += 1; },
          .never_ran = [this](Crew::Id id, std::string why) { never_ran(id, std::move(why)); },
          .moves_wished =
              [this](std::vector<Slot> slots, bool drains) {
                tell(MovesWished{std::move(slots), drains});
              },
          .hosts_change = [this](HostsOfJob now) { return hosts_change(std::move(now)); },
          .anybody_joined = [this] { return anybody_joined_; },
          .still_coordinates = [this] { return still_coordinates(); },
          .time = [this] { return time(); }});
  if (!takes_over_) return hosts_->call_all();
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

Result<Done> DriverLoop::leave_mark() {
  // All hosts see the same bucket.
  if (options_.snapshots.empty() || store::is_address(options_.snapshots)) return Done{};
  auto mark = DirectoryMark::leave(as_absolute(options_.snapshots));
  if (!mark) return mark.error();
  mark_ = *std::move(mark);
  return Done{};
}

// All of them before the first process: a job whose hosts cannot be reached does not begin.
void DriverLoop::wait_for_hosts() {
  while (hosts_ && !finish_ && !hosts_->all_up()) {
    poller_.run_once(std::chrono::milliseconds(100));
  }
  join_by_ = now() + options_.settings.join_timeout;
}

void DriverLoop::make_world(const Doorway& doorway) {
  world_ = std::make_unique<World>(
      poller_, options_, crew_, launch_, doorway.mark,
      World::Events{.start =
                        [this](const std::vector<Crew::Id>& ids, Launch launch) {
                          if (finish_) return;
                          tally_.report.processes_started += static_cast<std::uint32_t>(ids.size());
                          auto started = crew_.start_world(ids, std::move(launch));
                          if (!started) finish(started.error());
                        },
                    .given_up =
                        [this](std::string why) {
                          if (!finish_) finish(4, std::move(why));
                        }});
}

void DriverLoop::turn() {
  const Time deadline = coordinator_->next_deadline().value_or(Time::max());
  const Time until = std::min(deadline, next_look_);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now());
  poller_.run_once(std::max(wait, std::chrono::milliseconds(0)));

  // What has arrived by now is told first, as of now: after a pause of this process (a busy
  // machine, Ctrl-Z) signs of life lie unread, and nobody was silent.
  frozen_ = now();
  poller_.run_once(std::chrono::milliseconds(0));
  if (!anybody_joined_ && *frozen_ >= join_by_) give_up_joining();
  const auto is_due = [this] {
    const auto due = coordinator_->next_deadline();
    return due && *due <= *frozen_;
  };
  if (is_due()) vouch();
  if (is_due()) tell(Tick{});
  if (*frozen_ >= next_look_) look();
  frozen_.reset();
}

// On a machine that is too busy a sign of life comes late. The kernel knows who would send one
// if he could, and speaks for him, for a while.
void DriverLoop::vouch() {
  const JobSettings& settings = options_.settings;
  const Time silent = settings.heartbeat_timeout - settings.heartbeat_interval / 2;
  for (const Crew::Id& id : crew_.held_up(*frozen_, silent)) {
    tell(Said{id.first, id.second, runtime::Heartbeat{.epoch = coordinator_->epoch()}});
  }
}

void DriverLoop::look() {
  next_look_ = *frozen_ + look_every;
  crew_.kill_stopped_starters(*frozen_, options_.settings.heartbeat_timeout);
  if (hosts_) hosts_->look();
  if (succession_) succession_->show_life();
  if (options_.leading != nullptr) {
    const std::vector<std::string> doors = succession_->doors();
    crew_.show_life(doors);
    onlookers_->show_life(doors);
  }
  if (planned_) observer_.progressed(since_start(), tally_.report);
  show();
}

void DriverLoop::show() {
  if (!recorder_ || *frozen_ < next_show_) return;
  next_show_ = *frozen_ + show_every;
  for (std::size_t host = 0; hosts_ && host < options_.hosts.size(); ++host) {
    recorder_->host_is(since_start(), options_.hosts[host].name, hosts_->state_of(host));
  }
  options_.board->publish(recorder_->look(since_start(), *coordinator_, tally_), now());
}

void DriverLoop::give_up_joining() {
  const std::chrono::duration<double> waited = options_.settings.join_timeout;
  finish(3, concat("'", options_.command.front(), "' has not joined within ",
                   human_seconds(waited.count()), ": is it a Piracema program?"));
}

// Never goes back, as the coordinator wants it.
Time DriverLoop::time() {
  last_time_ = std::max(last_time_, frozen_.value_or(now()));
  return last_time_;
}

void DriverLoop::tell(const Event& event) {
  if (finish_) return;
  for (Action& action : coordinator_->step(time(), event)) {
    if (finish_) return;
    std::visit([this](auto& what) { act(what); }, action);
  }
}

void DriverLoop::finish(int code, std::string why) {
  if (!finish_) finish_ = Finish{code, std::move(why)};
}

void DriverLoop::finish(const Error& error) { finish(exit_code(error.code), error.message); }

// Another one may coordinate the job meanwhile, and this one not know it: asked for before anybody
// is ended for another reason than a decision.
bool DriverLoop::still_coordinates() {
  if (deposed_ || !succession_) return !deposed_;
  if (!succession_->decided({}, coordinator_->metadata())) depose();
  return !deposed_;
}

void DriverLoop::depose() {
  deposed_ = true;
  finish(0, "");
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

JobReport DriverLoop::make_report() {
  JobReport report = std::move(tally_.report);
  report.code = finish_->code;
  report.why = finish_->why;
  report.took = since_start();
  if (recorder_) {
    options_.board->publish(recorder_->end(report.took, report.code, report.why, report), now());
  }
  struct rusage own {};
  ::getrusage(RUSAGE_SELF, &own);
  for (const timeval& used : {own.ru_utime, own.ru_stime}) {
    report.cpu += std::chrono::seconds(used.tv_sec) + std::chrono::microseconds(used.tv_usec);
  }
  return report;
}

JobReport run_job(const JobOptions& options, JobObserver& observer,
                  const std::function<void(const Doorway&)>& at_door) {
  return DriverLoop(options, observer, at_door).run();
}

JobReport run_job(const JobOptions& options, JobObserver& observer) {
  return DriverLoop(options, observer).run();
}

}  // namespace piracema::cluster
