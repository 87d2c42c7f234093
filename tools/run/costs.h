#pragma once

#include <piracema/error.h>

#include <map>
#include <string>

namespace piracema::tools {

/// How long the replicas of each node were busy in a run that wrote its statistics (--stats) to
/// `file`, in seconds. Errc::config for a file that is none of these, or tells of a run without
/// work.
Result<std::map<std::string, double>> read_costs(const std::string& file);

}  // namespace piracema::tools
