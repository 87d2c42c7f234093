#pragma once

#include <memory>

#include <piracema/graph.h>

#include "sim/cluster.h"

namespace piracema::sim {

/// The worker of a real program: real replicas, whose threads are events and whose packets travel
/// over the simulated network as the frames that they really are. `graph` outlives the worker.
std::unique_ptr<SimWorker> make_stream_worker(const Graph& graph, Slot slot, ProcessHost& host);

}  // namespace piracema::sim
