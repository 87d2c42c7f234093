#pragma once

#include <vector>

#include "topology/trees/costs.h"

namespace piracema::coll {

/// Ways of small messages around links that have become slow: over other ranks, each of which finds
/// the next one by what it knows itself. A way over others is taken where it takes half of the time
/// of the link and saves a millisecond; else relays would work for nothing. Pure.
class Detours {
 public:
  /// No links are known: all ways are straight.
  explicit Detours(Rank size);
  /// From `me`, by the latencies of all links: Dijkstra's algorithm, O(n^2).
  Detours(const LinkTable&, Rank me);

  /// Whom to give what is for `to`.
  Rank first(Rank to) const { return first_[to]; }
  /// How long that takes; seconds.
  double latency(Rank to) const { return latency_[to]; }

 private:
  std::vector<Rank> first_;
  std::vector<double> latency_;
};

}  // namespace piracema::coll
