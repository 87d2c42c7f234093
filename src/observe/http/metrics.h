#pragma once

#include <string>

#include "observe/http/metrics_writer.h"
#include "observe/status/job_status.h"

namespace piracema::observe {

/// All figures of a job, by node.
std::string metrics(const JobStatus& status, MetricsFormat format);
/// What each replica does. A job may have ten thousand: they are asked for by themselves.
std::string replica_metrics(const JobStatus& status, MetricsFormat format);

}  // namespace piracema::observe
