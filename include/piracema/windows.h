#pragma once

#include <chrono>

namespace piracema {

/// Windows of one length, each behind the other: [0, size), [size, 2 size) and so on, from the
/// beginning of 1970 in UTC.
struct Tumbling {
  std::chrono::nanoseconds size{};
};
constexpr Tumbling tumbling(std::chrono::nanoseconds size) { return {size}; }

/// Windows of one length, of which one begins `every` so often: a multiple of that long.
struct Sliding {
  std::chrono::nanoseconds size{}, every{};
};
constexpr Sliding sliding(std::chrono::nanoseconds size, std::chrono::nanoseconds every) {
  return {size, every};
}

}  // namespace piracema
