#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>
#include <string_view>
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
/// The job is over, with this code: who still looks for its coordinator need not wait. Errc::io.
Result<Done> close_coordinator_file(const std::string& path, int code);
/// How the job has ended whose directory it is; nothing where it goes on, or nobody knows.
std::optional<int> code_in_coordinator_file(const std::string& path);

/// Those that are addresses, at most 64 of them.
std::vector<std::string> coordinator_addresses(const std::vector<std::string>& all);

/// Where whoever has this key may find its coordinator: at most 64 addresses. Those of `otherwise`
/// where there is no such file, or another thing; none where the directory is another job's now, or
/// nobody's: there will be no coordinator.
std::vector<std::string> find_coordinators(const std::string& path, std::string_view token,
                                           const std::vector<std::string>& otherwise);

}  // namespace piracema::cluster
