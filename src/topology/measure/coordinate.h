#pragma once

#include <array>

namespace piracema::coll {

/// A place in a space of latencies (Vivaldi, Dabek et al. 2004): the distance of two places
/// estimates the latency of two ranks that have never measured each other. The height is what a
/// rank's own access costs. Seconds.
struct Coordinate {
  std::array<double, 3> at{};
  double height = 0;
  /// How far off its estimates are, as a part; 1: it knows nothing.
  double error = 1;
};

double distance(const Coordinate&, const Coordinate&);

/// Moves a place so that its distance from `other` fits what was measured a little better. Two
/// places on one spot are pushed apart in a direction that `chance`, from 0 to 1, chooses.
void move_by(Coordinate&, const Coordinate& other, double latency, double chance);

}  // namespace piracema::coll
