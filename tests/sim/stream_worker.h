#pragma once

#include <piracema/graph.h>

#include <memory>

#include "sim/cluster.h"
#include "sim/sim_replica.h"

namespace piracema::sim {

/// The worker of a real program: real replicas, whose threads are events and whose packets travel
/// over the simulated network as the frames that they really are. `graph` outlives the worker.
/// With `threads` so many replicas of the process work at a time, else all. `counts` may be null.
/// States by key lie in `place`, or in memory if that is null. A node that says what it costs takes
/// about as long for each batch, in place of next to nothing.
std::unique_ptr<SimWorker> make_stream_worker(const Graph& graph, Slot slot, ProcessHost& host,
                                              std::size_t threads = 0,
                                              StreamCounts* counts = nullptr,
                                              StatePlace* place = nullptr);

}  // namespace piracema::sim
