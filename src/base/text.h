#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/engine.h"

namespace piracema {

namespace detail {
inline void append_text(std::string& out, std::string_view text) { out += text; }
inline void append_text(std::string& out, char c) { out += c; }
template <class N>
requires std::is_arithmetic_v<N>
void append_text(std::string& out, N number) { out += std::to_string(number); }
}  // namespace detail

/// The arguments one behind the other: `concat("want ", 8, " bytes")`.
template <class... Args>
std::string concat(const Args&... args) {
  std::string out;
  (detail::append_text(out, args), ...);
  return out;
}

/// "What failed: No such file or directory", from errno; with the limit that a file is too large
/// for, if that is what failed. A full disk, a port that is taken and the like bring a hint.
std::string with_errno(std::string_view what);

/// Errc::io: "PATH: cannot open: No such file or directory", from errno.
Error io_error(const std::string& path, std::string_view what);

/// "1.4 MB", "823 B": three digits at most, powers of 1000.
std::string human_bytes(double bytes);

/// "84 ms", "12.3 s", "3 min 20 s".
std::string human_seconds(double seconds);

}  // namespace piracema
