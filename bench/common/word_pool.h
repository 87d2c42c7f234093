#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// Lines of text that are the same on every machine.
namespace piracema::bench {

using Line = std::array<char, 100>;

/// Sebastiano Vigna's splitmix64.
constexpr std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// 65,536 lines of exactly 100 characters: about 15 words each, out of 10,000 of 2 to 9 letters, of
/// which some are frequent (the cube of an even distribution). A word that the end of its line cuts
/// is a word of its own. Made at the first call; any thread.
const std::vector<Line>& word_pool();

}  // namespace piracema::bench
