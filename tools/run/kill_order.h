#pragma once

#include <piracema/error.h>

#include <string>

#include "observe/status/report.h"

namespace piracema::tools {

/// "compress.2@40": the process of replica 2 of node compress when 40 % are read; the replica is
/// 0 where none is given. Errc::usage.
Result<cluster::KillOrder> parse_kill(const std::string& text);

/// As parse_kill takes it: "compress.2@40".
std::string kill_text(const cluster::KillOrder& order);

}  // namespace piracema::tools
