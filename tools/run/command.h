#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/driver/driver.h"
#include "host/host_list.h"
#include "observe/http/server.h"

namespace piracema::tools {

/// Several coordinators of one job, of which this process is one (src/council).
class Coordinators {
 public:
  virtual ~Coordinators() = default;
  /// As `cluster::run_job`; until the job is over, whoever coordinates it.
  virtual cluster::JobReport run(const cluster::JobOptions&, cluster::JobObserver&) = 0;
  /// This one coordinated it in the end.
  virtual bool has_led() const = 0;
  /// What there was to say is said.
  virtual void end(const cluster::JobReport&) = 0;
};

/// `piracema run`, its arguments read.
struct RunCommand {
  /// `command.front()` is the program as the user named it.
  cluster::JobOptions job;
  /// File that says where the groups of the program run; empty: -n processes share the work.
  std::string groups;
  /// File with the statistics of an earlier run, by which replicas are spread; empty: none.
  std::string costs;
  /// Hosts that the workers are spread over; none: those that a scheduler has given to this
  /// process, else this one. As --hosts has it, or a file of mpirun's.
  std::optional<cluster::HostList> hosts;
  std::string hostfile;
  /// Hosts come and go as that file is changed.
  bool watch_hosts = false;
  /// The user has said how many workers, and by which remote shell.
  bool workers_given = false, rsh_given = false;
  /// File for the statistics as JSON; empty: none.
  std::string stats;
  /// Where the job is shown by HTTP while it runs, as HttpOptions has it; nothing: nowhere.
  std::optional<observe::HttpOptions> http;
  /// File for a page with all that was known of the job, when it is over; empty: none.
  std::string report;
  /// How many coordinators the job has.
  std::uint32_t coordinators = 1;
  /// This takes the place of the command of a job that goes on.
  bool join = false;
  /// With several coordinators and `watch_hosts`: the command ends when its host leaves the job.
  bool leave_with_host = false;
  /// Of several, in the process that was typed: starts them, or joins them, and gives the exit code
  /// of the job.
  std::function<Result<int>(const RunCommand&)> convene;
  /// Of several, in a process that was started so: makes it one of them; and whether it is the
  /// first.
  std::function<Result<std::unique_ptr<Coordinators>>(const RunCommand&)> gather;
  bool is_first = true;
  /// Warnings and errors only.
  bool quiet = false;
  /// Notes and summary as JSON lines on standard output.
  bool json = false;
};

/// Runs the job and returns the exit code of the command.
int run_command(RunCommand command);

}  // namespace piracema::tools
