#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/driver/report.h"

namespace piracema::tools {

/// "4": 1 to `max`. Errc::usage.
Result<std::uint32_t> parse_count(const std::string& text, std::uint32_t max);

/// Any name of a file or directory; an empty one is a variable that a script has not set.
/// Errc::usage.
Result<std::string> parse_path(const std::string& text);

/// "250ms", "1s", "1.5s", "2m", "1h": 1 ms to 1 year. Errc::usage.
Result<std::chrono::milliseconds> parse_duration(const std::string& text);

/// "auto", "tcp", "shm" or "mpi". Errc::usage.
Result<std::string> parse_transport(const std::string& text);

/// "a,b,c": names with commas between them, at least one, none empty or like an option.
/// Errc::usage.
Result<std::vector<std::string>> parse_names(const std::string& text);

/// "mpirun --bind-to none": words with spaces between them, at least one. Errc::usage.
Result<std::vector<std::string>> parse_words(const std::string& text);

/// "compress.2@40": the process of replica 2 of node compress when 40 % are read; the replica is
/// 0 where none is given. Errc::usage.
Result<cluster::KillOrder> parse_kill(const std::string& text);

/// As parse_kill takes it: "compress.2@40".
std::string kill_text(const cluster::KillOrder& order);

}  // namespace piracema::tools
