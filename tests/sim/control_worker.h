#pragma once

#include <memory>
#include <optional>

#include "sim/cluster.h"

namespace piracema::sim {

/// A state that is large.
struct Loading {
  Time takes{};
  /// Its worker says that it gets on.
  bool gets_on = true;
};

/// The control side of a worker without its items: a source is a number that counts up to
/// `items`, and barriers and ends flow through real aligners. `shape` outlives the worker. The
/// items of other replicas are numbered as they come to them; one may be poisonous.
std::unique_ptr<SimWorker> make_control_worker(const GraphShape& shape, std::uint64_t items,
                                               Slot slot, ProcessHost& host,
                                               std::optional<Poison> poison = {},
                                               Loading loading = {});

}  // namespace piracema::sim
