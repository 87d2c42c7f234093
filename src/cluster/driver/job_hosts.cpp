#include "cluster/driver/job_hosts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/leading.h"

namespace piracema::cluster {

namespace {

// Without a host a process waits; no job waits longer for one.
constexpr std::chrono::seconds host_timeout{60};
// How long processes on other hosts may take to be gone, and their agents with them.
constexpr std::chrono::seconds gone_timeout{3};

Crew::Items items_of(const std::vector<BusyReplica>& at_work) {
  Crew::Items items;
  for (const BusyReplica& busy : at_work) items.emplace_back(busy.replica, busy.item);
  return items;
}

}  // namespace

JobHosts::JobHosts(net::Poller& poller, JobOptions& options, Crew& crew, Door& door,
                   const std::string& token, AgentSetup setup, Events events)
    : poller_(poller),
      options_(options),
      crew_(crew),
      setup_(std::move(setup)),
      events_(std::move(events)),
      hosts_(
          poller, options, token, door,
          [this](std::size_t host, const std::string& coordinator) {
            return setup_.on(host, coordinator);
          },
          {.up = [this](std::size_t) { up(); },
           .unreachable = [this](const Error& why) { events_.failed(why); },
           .lost = [this](std::size_t host, const std::string& why) { crew_.host_lost(host, why); },
           .said = [this](std::size_t host,
                          const FromAgent& message) { heard_from(host, message); },
           .came_back =
               [this](std::size_t host, const std::vector<RunningProcess>& running) {
                 came_back(host, running);
               },
           .may_send_away = [this] { return events_.still_coordinates(); },
           .coordinators = [this] { return setup_.coordinators(); },
           .leaving = [this](std::size_t) { look(); }}),
      places_(options, crew, hosts_, [this] { events_.started(); }) {
  if (options.watched_hostfile.empty()) return;
  followed_ = std::make_unique<FollowedHosts>(
      poller, options, hosts_, places_,
      FollowedHosts::Events{.decide = events_.hosts_change, .changed = [this] { look(); }});
}

Result<Done> JobHosts::wait_for_all(Time until, std::uint64_t term, const HostsOfJob& left) {
  takes_over_ = true;
  for (std::size_t host = 0; host < left.hosts.size(); ++host) {
    hosts_.want(host, left.hosts[host].wanted);
  }
  return hosts_.wait_for_all(until, term);
}

void JobHosts::give_hosts() {
  if (places_.give_hosts() && followed_) followed_->more_slots();
}

void JobHosts::start(Crew::Id id) { places_.start(id, events_.time()); }

void JobHosts::up() {
  give_up_missing();
  places_.start_waiting(events_.time());
}

// Whom this coordinator does not know, the one before has given up.
void JobHosts::came_back(std::size_t host, const std::vector<RunningProcess>& running) {
  for (const RunningProcess& process : running) {
    if (crew_.found({process.slot, process.incarnation}, host)) continue;
    hosts_.end(host, EndProcess{process.slot, process.incarnation});
  }
}

// Once the agents of all hosts have come with what they have kept: whom none of them has named is
// gone, which the coordinator would find out by waiting. Where one does not come its processes may
// still live, so nobody is given up here; the coordinator waits for them and fences them.
void JobHosts::give_up_missing() {
  if (!takes_over_ || !hosts_.all_came_back()) return;
  takes_over_ = false;
  for (const Crew::Id& id : crew_.missing())
    events_.never_ran(id, "it ended while there was no coordinator");
}

void JobHosts::heard_from(std::size_t host, const FromAgent& message) {
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
    if (!events_.anybody_joined()) {
      const bool here = options_.hosts[host].here;
      return events_.over(
          3, here ? failed->why : concat(described(options_.hosts[host]), ": ", failed->why));
    }
    crew_.ended({failed->slot, failed->incarnation}, Exit{.how = failed->why}, {});
  }
}

// A process that has yet to join, on a host that fell silent, would be waited for in vain: its slot
// goes on elsewhere. A job without any host may go on when one is back, but not for ever.
void JobHosts::look() {
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    if (events_.anybody_joined() && hosts_.is_silent(host)) {
      crew_.give_up_starters(host, concat(described(options_.hosts[host]), " is silent"));
    }
  }
  give_up_missing();
  places_.start_waiting(events_.time());
  move_displaced();
  leave_drained();
  if (places_.waited(events_.time()) < host_timeout) return;
  events_.over(4, concat("no host of the job can be reached for ", host_timeout.count(), " s"));
}

// Those that began elsewhere as their own host could not be reached, and those whose host drains,
// for whom it is urgent.
void JobHosts::move_displaced() {
  auto [slots, drains] = places_.displaced();
  const auto before = std::exchange(displaced_, std::move(slots));
  if (before.empty() && displaced_.empty()) return;
  for (const Slot slot : displaced_) {
    if (std::find(before.begin(), before.end(), slot) != before.end()) continue;
    log(Level::info,
        concat("worker ", slot,
               places_.is_on_draining(slot) ? concat(" leaves ", places_.host_of(slot))
                                            : concat(" goes to ", places_.own_host_of(slot)),
               " with the next snapshot"));
  }
  events_.moves_wished(displaced_, drains);
}

// What has nowhere else to go stays until the host is gone. Where no snapshots are taken nobody can
// go anywhere, and whoever has told the agent to leave is not kept waiting.
void JobHosts::leave_drained() {
  const bool can_move = !options_.snapshots.empty();
  std::set<std::string> left, in_use;
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    (hosts_.is_left(host) ? left : in_use).insert(options_.hosts[host].address);
    if (!hosts_.is_draining(host)) continue;
    if (crew_.count_on(host) == 0 || !can_move) hosts_.let_leave(host);
  }
  if (options_.leading == nullptr) return;
  // A machine may have several names.
  std::erase_if(left, [&](const std::string& address) { return in_use.contains(address); });
  options_.leading->at_work->has_left(std::move(left));
}

void JobHosts::stop_following() {
  if (followed_) followed_->stop();
}

// Who does not answer any more, on another host, is left to its own devices: an agent ends without
// its coordinator.
void JobHosts::leave() {
  const Time until = now() + gone_timeout;
  while (crew_.size() != 0 && now() < until) poller_.run_once(std::chrono::milliseconds(20));
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    crew_.host_lost(host, "the job is over");
  }
  hosts_.leave();
  while (!hosts_.all_left() && now() < until + gone_timeout) {
    poller_.run_once(std::chrono::milliseconds(20));
  }
  hosts_.end_all();
}

}  // namespace piracema::cluster
