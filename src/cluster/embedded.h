#pragma once

#include <piracema/graph.h>
#include <piracema/run.h>

namespace piracema::cluster {

/// Runs a program in this one process, a thread for each replica, with the same coordinator as a
/// cluster has. Returns the exit code; what went wrong has been said.
int run_embedded(const Graph& graph, const RunOptions& options);

}  // namespace piracema::cluster
