#pragma once

#include <piracema/graph.h>
#include <piracema/operators.h>

#include "base/engine.h"

namespace piracema::operators::detail {

/// The plan of the job that this process runs; without stages before that is known. Any thread.
utility::ExecutionPlan running_plan();
void set_running_plan(const GraphShape& shape);

}  // namespace piracema::operators::detail
