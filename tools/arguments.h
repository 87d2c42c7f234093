#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace piracema::tools {

/// "4": 1 to `max`. Errc::usage.
Result<std::uint32_t> parse_count(const std::string& text, std::uint32_t max);

/// Any name of a file or directory; an empty one is a variable that a script has not set.
/// Errc::usage.
Result<std::string> parse_path(const std::string& text);

/// "100ms", or "never", which is none. Errc::usage.
Result<std::optional<std::chrono::milliseconds>> parse_patience(const std::string& text);

/// "auto", "tcp", "shm" or "mpi". Errc::usage.
Result<std::string> parse_transport(const std::string& text);

/// "mpirun --bind-to none": words with spaces between them, at least one. Errc::usage.
Result<std::vector<std::string>> parse_words(const std::string& text);

}  // namespace piracema::tools
