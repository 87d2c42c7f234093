#pragma once

#include <piracema/graph.h>

#include <memory>

#include "sim/cluster.h"

namespace piracema::sim {

/// The worker of a real program: real replicas, whose threads are events and whose packets travel
/// over the simulated network as the frames that they really are. `graph` outlives the worker.
/// With `threads` so many replicas of the process work at a time, else all. `kept` counts replicas
/// that begin with states by key which were kept; these lie in `place`, or in memory if that is
/// null.
std::unique_ptr<SimWorker> make_stream_worker(const Graph& graph, Slot slot, ProcessHost& host,
                                              std::size_t threads = 0,
                                              std::uint64_t* kept = nullptr,
                                              StatePlace* place = nullptr);

}  // namespace piracema::sim
