// Who starts a process, an agent of its host or mpirun, and what is heard of it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/loop.h"
#include "store/open_store.h"

extern char** environ;

namespace piracema::cluster {

namespace {

// Without a host a process waits; no job waits longer for one.
constexpr std::chrono::seconds host_timeout{60};
// How long processes on other hosts may take to be gone, and their agents with them.
constexpr std::chrono::seconds gone_timeout{3};

// There is one file of that name, or none: what another host makes of it is up to its disks.
std::string absolute(const std::string& path) {
  return path.empty() || store::is_address(path) ? path : std::filesystem::absolute(path).string();
}

Crew::Items items_of(const std::vector<BusyReplica>& at_work) {
  Crew::Items items;
  for (const BusyReplica& busy : at_work) items.emplace_back(busy.replica, busy.item);
  return items;
}

}  // namespace

Result<Done> DriverLoop::call_hosts(const Doorway& doorway) {
  // What mpirun starts, or somebody else, needs no agents.
  if (options_.transport == "mpi" || options_.settings.workers_come) return Done{};
  if (options_.hosts.empty()) {
    options_.hosts = {{.name = "this host", .address = "127.0.0.1", .here = true}};
    options_.host_of_slot.assign(coordinator_->metadata().slots_wanted(), 0);
  }
  const bool elsewhere = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                     [](const HostOptions& host) { return !host.here; });
  if (elsewhere || !options_.watched_hostfile.empty()) {
    if (auto left = leave_mark(); !left) return left;
  }
  hosts_ = std::make_unique<Hosts>(
      poller_, options_, doorway.token, *door_,
      [this](std::size_t host, const std::string& coordinator) {
        return setup_for(host, coordinator);
      },
      Hosts::Events{
          .up =
              [this](std::size_t) {
                give_up_missing();
                places_->start_waiting(time());
              },
          .unreachable = [this](const Error& why) { finish(why); },
          .lost = [this](std::size_t host, const std::string& why) { crew_.host_lost(host, why); },
          .said = [this](std::size_t host, const FromAgent& message) { heard_from(host, message); },
          .came_back =
              [this](std::size_t host, const std::vector<RunningProcess>& running) {
                came_back(host, running);
              },
          .may_send_away = [this] { return still_coordinates(); },
          .leaving = [this](std::size_t) { look_at_hosts(); }});
  places_ = std::make_unique<Places>(options_, crew_, *hosts_,
                                     [this] { tally_.report.processes_started += 1; });
  if (!options_.watched_hostfile.empty()) {
    followed_hosts_ = std::make_unique<FollowedHosts>(poller_, options_, *hosts_, *places_,
                                                      [this] { look_at_hosts(); });
  }
  if (!takes_over_) return hosts_->call_all();
  return hosts_->wait_for_all(now() + coordinator_->metadata().settings.attach_timeout,
                              coordinator_->metadata().term + 1);
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

// Whom this coordinator does not know, the one before has given up.
void DriverLoop::came_back(std::size_t host, const std::vector<RunningProcess>& running) {
  for (const RunningProcess& process : running) {
    if (crew_.found({process.slot, process.incarnation}, host)) continue;
    hosts_->end(host, EndProcess{process.slot, process.incarnation});
  }
}

// Once the agents of all hosts have come with what they have kept: whom none of them has named is
// gone, which the coordinator would find out by waiting. Where one does not come its processes may
// still live, so nobody is given up here; the coordinator waits for them and fences them.
void DriverLoop::give_up_missing() {
  if (!takes_over_ || !hosts_->all_came_back()) return;
  takes_over_ = false;
  for (const Crew::Id& id : crew_.missing())
    never_ran(id, "it ended while there was no coordinator");
}

Result<Done> DriverLoop::leave_mark() {
  // All hosts see the same bucket.
  if (options_.snapshots.empty() || store::is_address(options_.snapshots)) return Done{};
  auto mark = DirectoryMark::leave(absolute(options_.snapshots));
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

// What we were told by our environment, the workers there are to be told as well.
Setup DriverLoop::setup_for(std::size_t host, const std::string& coordinator) const {
  const bool here = options_.hosts[host].here;
  Setup setup{
      .command = options_.command,
      .environment = {},
      .mark = mark_ ? mark_->path() : "",
      .heartbeat_ms = static_cast<std::uint32_t>(options_.settings.heartbeat_interval.count()),
      .own_streams = here && (options_.leading == nullptr || !options_.leading->was_brought)};
  // Its end is told by the kernel, and a coordinator that is stopped is waited for.
  if (here) setup.patience_ms = 0;
  if (succession_) succession_->add_to(setup);
  if (options_.leading != nullptr) {
    setup.others_after_ms =
        std::max(static_cast<std::uint32_t>(others_after.count()), 4 * setup.heartbeat_ms);
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with("PIRACEMA_")) {
      setup.environment.push_back(*variable);
    }
  }
  for (const std::string& variable : launch_.environment) set_variable(setup.environment, variable);
  if (here && options_.hand_on_input) set_variable(setup.environment, "PIRACEMA_STDIN=1");
  std::string coordinators = coordinator;
  for (const std::string& one : setup.coordinators) {
    if (one != coordinator) coordinators += concat(",", one);
  }
  set_variable(setup.environment, concat("PIRACEMA_COORDINATOR=", coordinators));
  set_variable(setup.environment, concat("PIRACEMA_SNAPSHOTS=", absolute(options_.snapshots)));
  set_variable(setup.environment,
               concat("PIRACEMA_DEAD_LETTERS=", absolute(options_.dead_letters)));
  return setup;
}

void DriverLoop::heard_from(std::size_t host, const FromAgent& message) {
  if (const auto* pulse = std::get_if<AgentPulse>(&message)) {
    crew_.conditions(host, pulse->conditions);
  } else if (const auto* ended = std::get_if<Ended>(&message)) {
    Exit exit{.clean = ended->clean,
              .from_outside = ended->from_outside,
              .by_signal = !ended->status,
              .status = {},
              .how = ended->how,
              .cpu = std::chrono::nanoseconds(ended->cpu_ns),
              .peak_bytes = ended->peak_bytes};
    if (ended->status) exit.status = static_cast<int>(*ended->status);
    crew_.ended({ended->slot, ended->incarnation}, exit, items_of(ended->at_work));
  } else if (const auto* lives = std::get_if<AtWorkNow>(&message)) {
    crew_.is_at({lives->slot, lives->incarnation}, items_of(lives->at_work));
  } else if (const auto* failed = std::get_if<NotStarted>(&message)) {
    if (!anybody_joined_) {
      const bool here = options_.hosts[host].here;
      return finish(
          3, here ? failed->why : concat(described(options_.hosts[host]), ": ", failed->why));
    }
    crew_.ended({failed->slot, failed->incarnation}, Exit{.how = failed->why}, {});
  }
}

// A process that has yet to join, on a host that fell silent, would be waited for in vain: its slot
// goes on elsewhere. A job without any host may go on when one is back, but not for ever.
void DriverLoop::look_at_hosts() {
  if (!hosts_) return;
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    if (anybody_joined_ && hosts_->is_silent(host)) {
      crew_.give_up_starters(host, concat(described(options_.hosts[host]), " is silent"));
    }
  }
  give_up_missing();
  places_->start_waiting(time());
  move_displaced();
  leave_drained();
  if (places_->waited(time()) < host_timeout) return;
  finish(4, concat("no host of the job can be reached for ", host_timeout.count(), " s"));
}

// Those that began elsewhere as their own host could not be reached, and those whose host drains,
// for whom it is urgent.
void DriverLoop::move_displaced() {
  auto [slots, drains] = places_->displaced();
  const auto before = std::exchange(displaced_, std::move(slots));
  if (before.empty() && displaced_.empty()) return;
  for (const Slot slot : displaced_) {
    if (std::find(before.begin(), before.end(), slot) != before.end()) continue;
    log(Level::info,
        concat("worker ", slot,
               places_->is_on_draining(slot) ? concat(" leaves ", places_->host_of(slot))
                                             : concat(" goes to ", places_->own_host_of(slot)),
               " with the next snapshot"));
  }
  tell(MovesWished{displaced_, drains});
}

// What has nowhere else to go stays until the host is gone. Where no snapshots are taken nobody can
// go anywhere, and whoever has told the agent to leave is not kept waiting.
void DriverLoop::leave_drained() {
  const bool can_move = !options_.snapshots.empty();
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    if (!hosts_->is_draining(host)) continue;
    if (crew_.count_on(host) == 0 || !can_move) hosts_->let_leave(host);
  }
}

// Who does not answer any more, on another host, is left to its own devices: an agent ends without
// its coordinator.
void DriverLoop::leave_hosts() {
  if (!hosts_) return;
  const Time until = now() + gone_timeout;
  while (crew_.size() != 0 && now() < until) poller_.run_once(std::chrono::milliseconds(20));
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    crew_.host_lost(host, "the job is over");
  }
  hosts_->leave();
  while (!hosts_->all_left() && now() < until + gone_timeout) {
    poller_.run_once(std::chrono::milliseconds(20));
  }
  hosts_->end_all();
}

}  // namespace piracema::cluster
