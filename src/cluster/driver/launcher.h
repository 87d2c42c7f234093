#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/crew.h"
#include "cluster/driver/door.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/first_to_join.h"
#include "cluster/driver/job_account.h"
#include "cluster/driver/job_hosts.h"
#include "cluster/driver/job_snapshots.h"
#include "cluster/driver/succession.h"
#include "cluster/driver/world.h"
#include "control/job_metadata.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// Where the processes of a job come from: agents start them on its hosts, one mpirun starts them
/// all, or they come by themselves. Of those that agents start the first one is alone until it has
/// joined. Belongs to the poller's thread.
class Launcher {
 public:
  struct Events {
    /// The job cannot begin, or not go on.
    std::function<void(const Error&)> failed;
    std::function<void(int code, std::string why)> over;
    std::function<void(std::uint32_t processes)> started;
    /// Whoever had the job before has lost that process.
    std::function<void(Crew::Id, std::string why)> never_ran;
    /// As JobHosts has it.
    std::function<void(std::vector<Slot>, bool drains)> moves_wished;
    /// Not before `job_begins`.
    std::function<void(HostsOfJob)> hosts_change;
    std::function<bool()> still_coordinates;
    /// Nothing is started any more.
    std::function<bool()> is_over;
    std::function<Time()> time;
  };

  /// All outlive this. `options` gets the hosts that the job is on.
  Launcher(net::Poller& poller, JobOptions& options, Crew& crew, Events events);

  // ---- how the job begins
  /// These processes were started for the coordinator before.
  void take_over(const JobMetadata& metadata);
  /// Call once, before any process is to start. They come to `door`, which outlives this, as
  /// `succession` does; that may be null. Errors as JobHosts and JobSnapshots::mark.
  Result<Done> begin(const Doorway& doorway, Door& door, const JobMetadata& metadata,
                     JobSnapshots& snapshots, const Succession* succession);
  /// Processes can be started on all hosts.
  bool is_ready() const { return !hosts_ || hosts_->all_up(); }
  /// The first process has JobSettings::join_timeout to join, from then on.
  void wait_for_first(Time from) { first_.wait_until(from + options_.settings.join_timeout); }
  /// The coordinator knows of the job by now, and hears which hosts it has.
  void job_begins();

  // ---- what the coordinator wants
  void start(Crew::Id id);
  /// False if it is started already.
  bool need_not_start(Crew::Id id);
  /// What is to be done with a process by the agent of its host.
  void end(std::size_t host, Crew::Id id) { hosts_->end(host, id); }
  void ask(std::size_t host, Crew::Id id) { hosts_->ask(host, id); }

  // ---- what happens
  /// An agent has come: as of Door.
  Result<net::Connection::Events> agent_joined(const AgentHello& hello, Door::Line line);
  /// A process has. True: it is the first, and others may wait for `start_others`.
  bool joined();
  void start_others();
  bool anybody_joined() const { return first_.has_joined(); }
  /// One has ended. Why the job ends with it, if it was to be the first and has not joined.
  std::optional<Finish> ended(const Exit& exit);
  /// The coordinator has heard of that.
  void start_when_complete();
  /// Why the job ends, if the first one has had its time.
  std::optional<Finish> lateness(Time now) const;
  /// Call a few times a second.
  void look();
  /// As Crew has it.
  void reap_all();
  /// As they are now.
  std::vector<JobAccount::HostNow> hosts() const;

  // ---- how the job ends, as JobHosts has it
  void let_go();
  void stop_following();
  void leave();

 private:
  Result<Done> call_hosts(const Doorway& doorway, Door& door, const JobMetadata& metadata,
                          JobSnapshots& snapshots, const Succession* succession);
  void make_world(const Doorway& doorway, const Succession* succession);
  bool hosts_change(HostsOfJob now);

  net::Poller& poller_;
  JobOptions& options_;
  Crew& crew_;
  const Events events_;
  FirstToJoin first_;
  /// Null when others start all processes: mpirun, or somebody.
  std::unique_ptr<JobHosts> hosts_;
  /// Null when mpirun does not start the processes.
  std::unique_ptr<World> world_;
  bool job_has_begun_ = false;
  std::optional<HostsOfJob> listed_before_;
};

}  // namespace piracema::cluster
