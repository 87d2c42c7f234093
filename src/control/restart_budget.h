#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace piracema::cluster {

/// What a replica was at work on when it, or the process around it, failed.
struct Suspect {
  std::uint32_t node = 0;
  ReplicaId replica = 0;
  /// None while it opened, finished or committed.
  std::optional<std::uint64_t> item;
};

/// Tells an item that brings its worker down whenever it is worked on from bad luck: counts the
/// failures of a node that lie within a few items of each other.
class RestartBudget {
 public:
  /// `budget` failures within `window` items of each other are one too many.
  RestartBudget(std::uint32_t budget, std::uint64_t window) : budget_(budget), window_(window) {}

  /// One failure, which any of the suspects may have caused.
  void failed(std::vector<Suspect> suspects);

  /// The suspect of the last failure whose node has used up its budget. Of several the one that
  /// came back to the same item most exactly: the others only happened to be near. Of equals the
  /// first.
  std::optional<Suspect> culprit() const;

  /// Forgets what counts with this one: its item will be skipped from now on.
  void reset(const Suspect& culprit);

 private:
  /// How far the nearest of `suspects` is from `one`; nothing if it is outside the window.
  std::optional<std::uint64_t> distance(const Suspect& one,
                                        const std::vector<Suspect>& suspects) const;

  std::uint32_t budget_;
  std::uint64_t window_;
  /// Newest last, a bounded number.
  std::vector<std::vector<Suspect>> failures_;
};

}  // namespace piracema::cluster
