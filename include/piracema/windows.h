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

/// A window as long as the items of a key are less than `gap` apart: from the first one's time to
/// `gap` after the last one's. An item between two joins them.
struct Sessions {
  std::chrono::nanoseconds gap{};
};
constexpr Sessions sessions(std::chrono::nanoseconds gap) { return {gap}; }

}  // namespace piracema
