#pragma once

#include <cstdint>
#include <stdexcept>

#include "sim/stream_parts.h"

/// What windows gather in simulations.
namespace piracema::sim {

/// Counts, and sums up, so that an item that is missed is not made up for by another one.
struct Tally {
  std::uint64_t count = 0, sum = 0;
};

/// The code of a window, which throws when it is told to.
struct Gather {
  Outside* outside = nullptr;

  void operator()(const std::uint64_t& item, Tally& tally) const {
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    tally.count += 1;
    tally.sum += item;
  }
  void combine(const Tally& more, Tally& into) const {
    into.count += more.count;
    into.sum += more.sum;
  }
};

}  // namespace piracema::sim
