#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/driver/driver.h"
#include "observe/http/server.h"

namespace piracema::tools {

/// `piracema run`, its arguments read.
struct RunCommand {
  /// `command.front()` is the program as the user named it.
  cluster::JobOptions job;
  /// File that says where the groups of the program run; empty: -n processes share the work.
  std::string groups;
  /// File with the statistics of an earlier run, by which replicas are spread; empty: none.
  std::string costs;
  /// Hosts that the workers are spread over; none: this one.
  std::vector<std::string> hosts;
  /// File for the statistics as JSON; empty: none.
  std::string stats;
  /// Where the job is shown by HTTP while it runs, as HttpOptions has it; nothing: nowhere.
  std::optional<observe::HttpOptions> http;
  /// File for a page with all that was known of the job, when it is over; empty: none.
  std::string report;
  /// Warnings and errors only.
  bool quiet = false;
  /// Notes and summary as JSON lines on standard output.
  bool json = false;
};

/// Runs the job and returns the exit code of the command.
int run_command(RunCommand command);

}  // namespace piracema::tools
