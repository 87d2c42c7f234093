#pragma once

#include <cstdint>

#include "base/clock.h"
#include "topology/measure/detours.h"
#include "topology/measure/link_map.h"

namespace piracema::coll::mpi {

/// Detours by the links as they are known, found anew at most for 2 % of the time.
class PacedDetours {
 public:
  explicit PacedDetours(Rank ranks) : detours_(ranks) {}

  const Detours& last() const { return detours_; }
  void update(const LinkMap& map, Rank me) {
    const Time began = now();
    if (map.version() == version_ || began - at_ < 50 * took_) return;
    detours_ = Detours(map.table(), me);
    version_ = map.version();
    at_ = now();
    took_ = at_ - began;
  }

 private:
  Detours detours_;
  std::uint64_t version_ = 0;
  Time at_{}, took_{};
};

}  // namespace piracema::coll::mpi
