#pragma once

#include <piracema/graph.h>

#include "base/engine.h"

namespace piracema::operators::detail {

/// What `utility::getExecutionPlan` answers from now on.
void set_running_plan(const GraphShape& shape);

}  // namespace piracema::operators::detail
