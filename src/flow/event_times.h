#pragma once

#include <piracema/graph.h>

#include <optional>
#include <string>

#include "base/engine.h"

namespace piracema::flow {

/// Why event time cannot be what a node of the graph takes it for: nobody before it gives any, a
/// cycle lies between, or what gives it reads items in another order than they were sent. None: it
/// can. `shape` is valid but for this. docs/design/030-event-time.md.
std::optional<std::string> without_event_time(const GraphShape& shape);

}  // namespace piracema::flow
