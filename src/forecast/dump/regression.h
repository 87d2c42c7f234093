#pragma once

#include <array>
#include <cstddef>
#include <vector>

/// A line through what was seen, of which the newest counts most. Pure.
namespace piracema::ckpt {

constexpr std::size_t inputs = 8;
using Inputs = std::array<double, inputs>;

struct Observation {
  Inputs x{};
  double y = 0;
  /// As so many.
  double counts = 1;
};

/// y = weights * x by least squares. Weights are drawn to those of before, the more so the surer
/// these were; so it is defined from the first observation on, and where an input never varies.
class Regression {
 public:
  struct Before {
    Inputs weights{};
    /// Each counts as so many observations.
    Inputs certainty{};
  };

  /// Knows what was before, and nothing else.
  explicit Regression(const Before& before);
  /// Oldest first; of two that follow each other the older counts `memory` of the newer.
  Regression(const Before& before, const std::vector<Observation>& seen, double memory);

  double predict(const Inputs& x) const;
  const Inputs& weights() const { return weights_; }

  /// The variance of a prediction, where that of an observation is 1: how little is known at x.
  double doubt(const Inputs& x) const;

 private:
  Inputs weights_{};
  /// The inverse of the sum of x * x.
  std::array<Inputs, inputs> inverse_{};
};

}  // namespace piracema::ckpt
