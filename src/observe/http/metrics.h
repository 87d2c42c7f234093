#pragma once

#include <string>

#include "observe/status/job_status.h"

namespace piracema::observe {

enum class MetricsFormat {
  prometheus,   ///< Text, version 0.0.4.
  openmetrics,  ///< Version 1.0.0.
};
/// What a scraper accepts, by its header.
MetricsFormat metrics_format(const std::string& accept);
const char* content_type(MetricsFormat);

/// All figures of a job, by node.
std::string metrics(const JobStatus& status, MetricsFormat format);
/// What each replica does. A job may have ten thousand: they are asked for by themselves.
std::string replica_metrics(const JobStatus& status, MetricsFormat format);

}  // namespace piracema::observe
