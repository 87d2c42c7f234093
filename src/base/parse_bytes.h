#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

namespace piracema {

/// "4096", "64MB", "1.5GiB" as a number of bytes, at least 1. Errc::usage for anything else.
Result<std::uint64_t> parse_bytes(const std::string& text);

}  // namespace piracema
