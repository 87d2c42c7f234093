#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

namespace piracema::cluster {

/// Where workers and agents that have lost their coordinator look for the next one: a file that
/// each coordinator of a job writes anew, in a directory that all hosts of the job see
/// (docs/formats/job-record.md). Whoever reads it asks for no more than a try: the handshake says
/// whether it is the coordinator.

/// Its path, in the directory of a job's snapshots.
std::string coordinator_file(const std::string& snapshots);

/// For the job with this key. Written whole or not at all; makes its folder. Errc::io.
Result<Done> write_coordinator_file(const std::string& path, std::string_view token,
                                    const std::vector<std::string>& addresses);
/// The job is over: who still looks for its coordinator need not wait. Errc::io.
Result<Done> close_coordinator_file(const std::string& path);

/// What whoever has this key finds there.
struct CoordinatorPlace {
  /// At most 64; none where there is no such file, or another thing.
  std::vector<std::string> addresses;
  /// The directory is another job's now, or nobody's: there will be no coordinator.
  bool is_anothers = false;
};
CoordinatorPlace read_coordinator_file(const std::string& path, std::string_view token);

}  // namespace piracema::cluster
