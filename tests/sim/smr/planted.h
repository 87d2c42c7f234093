#pragma once

#include <cstdint>
#include <span>

#include "sim/smr/plan.h"

namespace piracema::smr_sim {

/// A mistake that can be switched on in the code (Mutant), and the plan that is to find it.
struct Planted {
  const char* name;
  Plan (*plan)(std::uint64_t seed);
  /// It has to be found by then.
  std::uint64_t seeds;
};

/// Each of these is found: docs/design/007-proof-of-replication.md has the table.
std::span<const Planted> planted_mistakes();

/// Not found yet, or not looked for long enough: the plans are not mean enough for them.
std::span<const Planted> sought_mistakes();

}  // namespace piracema::smr_sim
