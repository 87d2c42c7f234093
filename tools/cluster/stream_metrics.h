#pragma once

#include <cstddef>

#include "observe/http/metrics_writer.h"
#include "tools/cluster/cluster_sight.h"

namespace piracema::tools {

/// So many streams have figures of their own, those of the oldest jobs; of all there is the count.
constexpr std::size_t streams_with_metrics_max = 200;

/// What is known of the streams that run, as figures.
void write_streams(observe::MetricsWriter& out, const ClusterSight& sight);

}  // namespace piracema::tools
