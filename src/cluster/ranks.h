#pragma once

#include <piracema/graph.h>
#include <piracema/run.h>

#include "cluster/worker_environment.h"

/// Programs whose processes mpirun has started: a worker for each rank, which talk by MPI.
namespace piracema::cluster {

/// Whether mpirun started this process with others, and nobody else coordinates them.
bool is_one_of_many_ranks();

/// Runs a job of all ranks; the first one's process has the coordinator beside it, as a child.
/// What a rank loses ends the whole, and `options.resume` goes on from the last snapshot. Returns
/// the exit code, the same at all ranks that are there to tell.
int run_ranks(const Graph& graph, const RunOptions& options);

/// Runs one worker of a job whose coordinator is `piracema run`, which has called mpirun.
int run_rank(const Graph& graph, WorkerEnvironment environment);

}  // namespace piracema::cluster
