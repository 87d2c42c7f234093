#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>
#include <vector>

namespace piracema::cluster {

/// How a command on a node of a cluster finds the coordinators of a job that goes on (`piracema run
/// --join`): an agent on that node has left it there, so no directory has to be seen by several.
struct WayToJob {
  /// The key of the job.
  std::string token;
  /// At most 64.
  std::vector<std::string> coordinators;
  bool operator==(const WayToJob&) const = default;
};

/// In the directory that the node gives to the job, as it says in this process's environment; no
/// node has started it: empty.
std::string way_to_job_file();
/// A node has started this process to join that job, and not somebody who means another one.
bool joins_job_of_node();

/// Written whole or not at all, in a folder that it makes and nobody else can look into. Errc::io.
Result<Done> write_way_to_job(const std::string& path, const WayToJob& way);
/// Nothing where there is none, or another thing.
std::optional<WayToJob> read_way_to_job(const std::string& path);

}  // namespace piracema::cluster
