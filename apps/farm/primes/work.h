#pragma once

#include <cstdint>

/// 1 for a prime number, else 0; by trial division.
inline std::uint64_t work(std::uint64_t number) {
  if (number < 4) return number >= 2 ? 1 : 0;
  if (number % 2 == 0) return 0;
  for (std::uint64_t divisor = 3; divisor * divisor <= number; divisor += 2) {
    if (number % divisor == 0) return 0;
  }
  return 1;
}
