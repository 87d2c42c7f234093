#include "cluster/driver/launcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "cluster/driver/agent_setup.h"
#include "cluster/driver/followed_hosts.h"
#include "cluster/driver/job_launch.h"

namespace piracema::cluster {

Launcher::Launcher(net::Poller& poller, JobOptions& options, Crew& crew, Events events)
    : poller_(poller), options_(options), crew_(crew), events_(std::move(events)) {}

void Launcher::take_over(const JobMetadata& metadata) {
  first_.join();
  for (Slot slot = 0; slot < metadata.slots_wanted(); ++slot) {
    crew_.expect({slot, metadata.incarnations[slot]});
  }
}

Result<Done> Launcher::begin(const Doorway& doorway, Door& door, const JobMetadata& metadata,
                             JobSnapshots& snapshots, const Succession* succession) {
  const bool by_mpirun = options_.transport == "mpi";
  if (by_mpirun) make_world(doorway, succession);
  if (options_.settings.workers_come) {
    for (Slot slot = 0; slot < options_.settings.slots; ++slot) crew_.expect({slot, 0});
  } else if (!by_mpirun) {
    return call_hosts(doorway, door, metadata, snapshots, succession);
  }
  return Done{};
}

Result<Done> Launcher::call_hosts(const Doorway& doorway, Door& door, const JobMetadata& metadata,
                                  JobSnapshots& snapshots, const Succession* succession) {
  const HostsOfJob& known = metadata.hosts;
  if (!known.hosts.empty()) use_hosts(known, options_);
  if (options_.hosts.empty()) {
    options_.hosts = {{.name = "this host", .address = "127.0.0.1", .here = true}};
    options_.host_of_slot.assign(metadata.slots_wanted(), 0);
  }
  const bool elsewhere = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                     [](const HostOptions& host) { return !host.here; });
  std::string mark = doorway.mark;
  if (elsewhere || !options_.watched_hostfile.empty()) {
    auto left = snapshots.mark();
    if (!left) return left.error();
    mark = *std::move(left);
  }
  hosts_ = std::make_unique<JobHosts>(
      poller_, options_, crew_, door, doorway.token,
      AgentSetup(options_, succession, launch_of(options_, doorway, succession).environment, mark),
      JobHosts::Events{
          .failed = events_.failed,
          .over = events_.over,
          .started = [this] { events_.started(1); },
          .never_ran = events_.never_ran,
          .moves_wished = events_.moves_wished,
          .hosts_change = [this](HostsOfJob now) { return hosts_change(std::move(now)); },
          .anybody_joined = [this] { return first_.has_joined(); },
          .still_coordinates = events_.still_coordinates,
          .time = events_.time});
  if (!snapshots.taken_over()) return hosts_->call_all();
  return hosts_->wait_for_all(now() + metadata.settings.attach_timeout, metadata.term + 1, known);
}

void Launcher::make_world(const Doorway& doorway, const Succession* succession) {
  world_ = std::make_unique<World>(
      poller_, options_, crew_, launch_of(options_, doorway, succession), doorway.mark,
      World::Events{.start =
                        [this](const std::vector<Crew::Id>& ids, Launch launch) {
                          if (events_.is_over()) return;
                          events_.started(static_cast<std::uint32_t>(ids.size()));
                          auto started = crew_.start_world(ids, std::move(launch));
                          if (!started) events_.failed(started.error());
                        },
                    .given_up = [this](std::string why) { events_.over(4, std::move(why)); }});
}

// The first thing that a coordinator is told begins the job, and that waits for all its hosts.
bool Launcher::hosts_change(HostsOfJob now) {
  if (job_has_begun_) {
    events_.hosts_change(std::move(now));
  } else {
    listed_before_ = std::move(now);
  }
  return !events_.is_over();
}

void Launcher::job_begins() {
  job_has_begun_ = true;
  if (listed_before_) events_.hosts_change(*std::exchange(listed_before_, std::nullopt));
}

// ---- what the coordinator wants -----------------------------------------------------------------

void Launcher::start(Crew::Id id) {
  if (world_) return world_->want(id);
  hosts_->give_hosts();
  if (!first_.has_joined() && crew_.size() != 0) {
    first_.hold(id);
  } else {
    hosts_->start(id);
  }
}

bool Launcher::need_not_start(Crew::Id id) {
  return first_.drop(id) || (hosts_ && hosts_->waits_no_more(id)) ||
         (world_ && world_->want_no_more(id));
}

// ---- what happens -------------------------------------------------------------------------------

Result<net::Connection::Events> Launcher::agent_joined(const AgentHello& hello, Door::Line line) {
  if (hosts_) return hosts_->joined(hello, std::move(line));
  return Error{Errc::refused, "there are no agents in this job"};
}

bool Launcher::joined() {
  if (world_) world_->joined();
  return first_.join();
}

void Launcher::start_others() {
  for (const Crew::Id& waits : first_.take()) hosts_->start(waits);
}

std::optional<Finish> Launcher::ended(const Exit& exit) {
  // Before anybody has joined, too: whoever sends signals, or a host that is lost, says nothing of
  // the program.
  if (first_.has_joined() || exit.by_signal || exit.from_outside) {
    wait_for_first(events_.time());
    return std::nullopt;
  }
  // The program has said why it takes its arguments or settings for wrong: its code is ours.
  const bool refused = exit.status == 2 || exit.status == 3;
  return Finish{refused ? *exit.status : 3,
                concat("'", options_.command.front(), "' left without joining (", exit.how, ")",
                       refused ? "" : ": is it a Piracema program?")};
}

void Launcher::start_when_complete() {
  if (world_) world_->start_when_complete();
}

std::optional<Finish> Launcher::lateness(Time now) const {
  if (!first_.is_late(now)) return std::nullopt;
  const std::chrono::duration<double> waited = options_.settings.join_timeout;
  return Finish{3, concat("'", options_.command.front(), "' has not joined within ",
                          human_seconds(waited.count()), ": is it a Piracema program?")};
}

void Launcher::look() {
  if (hosts_) hosts_->look();
}

void Launcher::reap_all() {
  if (hosts_) hosts_->reap_all();
  if (world_) world_->reap_all();
}

std::vector<JobAccount::HostNow> Launcher::hosts() const {
  std::vector<JobAccount::HostNow> hosts;
  for (std::size_t host = 0; hosts_ && host < options_.hosts.size(); ++host) {
    hosts.push_back({options_.hosts[host].name, hosts_->state_of(host)});
  }
  return hosts;
}

// ---- how the job ends ---------------------------------------------------------------------------

void Launcher::let_go() {
  if (hosts_) hosts_->let_go();
}

void Launcher::stop_following() {
  if (hosts_) hosts_->stop_following();
}

void Launcher::leave() {
  if (hosts_) hosts_->leave();
}

}  // namespace piracema::cluster
