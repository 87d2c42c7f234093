#pragma once

#include <algorithm>
#include <cstddef>

namespace piracema::smr {

/// Sees when a flood of clients' requests is over, so that the memory that it took can go back to
/// the system: what malloc has freed it keeps for the next flood. Pure.
class RequestFlood {
 public:
  /// What clients had asked for at once, so that it is one.
  static constexpr std::size_t least_bytes = std::size_t{8} << 20;

  /// Clients have asked for so much now. True once much less than at the height of a flood.
  bool is_over(std::size_t bytes) {
    height_ = std::max(height_, bytes);
    if (height_ < least_bytes || bytes > height_ / 8) return false;
    height_ = bytes;
    return true;
  }

 private:
  std::size_t height_ = 0;
};

}  // namespace piracema::smr
