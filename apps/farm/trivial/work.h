#pragma once

#include <chrono>
#include <cstdint>

/// Keeps a processor busy for a microsecond; gives the number back.
inline std::uint64_t work(std::uint64_t number) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
  while (std::chrono::steady_clock::now() < end) {
  }
  return number;
}
