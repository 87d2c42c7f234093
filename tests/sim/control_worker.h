#pragma once

#include <memory>

#include "sim/cluster.h"

namespace piracema::sim {

/// The control side of a worker without its items: a source is a number that counts up to
/// `items`, and barriers and ends flow through real aligners. `shape` outlives the worker.
std::unique_ptr<SimWorker> make_control_worker(const GraphShape& shape, std::uint64_t items,
                                               Slot slot, ProcessHost& host);

}  // namespace piracema::sim
