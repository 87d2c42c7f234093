#pragma once

#include <cstdint>

namespace piracema::smr {

/// Of the places in the order where a checkpoint may be taken, those where one is worth it: a large
/// state is not written again for each small part of it that has changed. So what is
/// kept behind one, which a newcomer has to execute, is about a quarter of the state, or so many
/// places if that is less; and up to there what is written is four times what was ordered.
///
/// All replicas choose the same places: it looks at the order and at the state alone, and whoever
/// becomes a checkpoint begins anew there, as all others did when they took it. Pure.
class CheckpointSpacing {
 public:
  /// One of so many places in a row is chosen, whatever was ordered: the log has a bound.
  static constexpr std::uint32_t places_max = 8;

  /// Whether one is taken at this place. `ordered`: bytes since the place before; `state`: about so
  /// many are written.
  bool take(std::uint64_t ordered, std::uint64_t state) {
    ordered_ += ordered;
    places_ += 1;
    if (ordered_ < state / 4 && places_ < places_max) return false;
    restart();
    return true;
  }
  /// The service has become a checkpoint.
  void restart() { ordered_ = places_ = 0; }

 private:
  std::uint64_t ordered_ = 0;
  std::uint32_t places_ = 0;
};

}  // namespace piracema::smr
