#pragma once

#include <piracema/graph.h>

#include "cluster/worker_environment.h"

namespace piracema::cluster {

/// How a process is to end.
struct WorkerEnd {
  int code = 0;
  /// Of its own accord, for an error that it or its coordinator has logged; otherwise the
  /// coordinator has said so.
  bool of_itself = false;
};

/// Runs the replicas that a coordinator gives to this process, until it says that the process is
/// to end. Does not return when the coordinator is gone: the process then exits with 1, whatever
/// its operators are at. `mpi` is the world that it is in, or null.
WorkerEnd run_worker(const Graph& graph, const WorkerEnvironment& environment,
                     net::MpiWorld* mpi = nullptr);

}  // namespace piracema::cluster
