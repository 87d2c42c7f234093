#pragma once

#include <piracema/error.h>

#include <string>

#include "flow/placement.h"

namespace piracema::tools {

/// What the replicas of each node did in a run that wrote its statistics (--stats) to `file`.
/// Errc::config for a file that is none of these, or tells of a run without work.
Result<flow::EarlierRun> read_costs(const std::string& file);

}  // namespace piracema::tools
