#pragma once

#include <memory>
#include <optional>

#include "sim/cluster.h"

namespace piracema::sim {

/// The control side of a worker without its items: a source is a number that counts up to
/// `items`, and barriers and ends flow through real aligners. `shape` outlives the worker. The
/// items of other replicas are numbered as they come to them; one may be poisonous.
std::unique_ptr<SimWorker> make_control_worker(const GraphShape& shape, std::uint64_t items,
                                               Slot slot, ProcessHost& host,
                                               std::optional<Poison> poison = {});

}  // namespace piracema::sim
