#pragma once

#include <piracema/graph.h>

#include "cluster/worker_environment.h"

namespace piracema::cluster {

/// Runs the replicas that a coordinator gives to this process, until it says that the process is
/// to end; returns the exit code. Does not return when the coordinator is gone: the process then
/// exits with 1, whatever its operators are at.
/// `mpi` is the world that it is in, or null.
int run_worker(const Graph& graph, const WorkerEnvironment& environment,
               net::MpiWorld* mpi = nullptr);

}  // namespace piracema::cluster
