#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/log.h"
#include "observe/status/job_status.h"

namespace piracema::observe {

/// What is known of a job as JSON texts, one for each resource of /api/v1 (docs/reference.md has
/// the names). Times are in seconds since the start of the job, but for those that end in _at_unix.
std::string job_json(const JobStatus& status);
std::string graph_json(const JobStatus& status);
/// At most `replicas_json_max` of them, from that one on; of one node only if it is named.
std::string replicas_json(const JobStatus& status, const std::string& node = "",
                          std::size_t from = 0);
std::string snapshots_json(const JobStatus& status);
std::string failures_json(const JobStatus& status);
std::string hosts_json(const JobStatus& status);
std::string throughput_json(const JobStatus& status);
/// The last lines that this process has logged.
std::string log_json();
/// The same of another process.
std::string log_json(const std::vector<LoggedLine>& lines);

constexpr std::size_t replicas_json_max = 1'000;

/// All of the above in one object, by their names, and its `kind`; on one line.
std::string all_json(const JobStatus& status);

}  // namespace piracema::observe
