#pragma once

#include <piracema/error.h>

#include <chrono>
#include <string>

#include "cluster/driver_report.h"

namespace piracema::tools {

/// "250ms", "1s", "1.5s", "2m", "1h": 1 ms to 1 year. Errc::usage.
Result<std::chrono::milliseconds> parse_duration(const std::string& text);

/// "compress.2@40": the process of replica 2 of node compress when 40 % are read; the replica is
/// 0 where none is given. Errc::usage.
Result<cluster::KillOrder> parse_kill(const std::string& text);

/// As parse_kill takes it: "compress.2@40".
std::string kill_text(const cluster::KillOrder& order);

}  // namespace piracema::tools
