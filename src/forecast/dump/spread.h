#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "forecast/dump/regression.h"

/// How far what was seen lay from what was foretold. Pure.
namespace piracema::ckpt {

/// Errors of the past, made comparable: each is divided by the scale that errors have where it was
/// made, so that what is uncertain only at times is so only then. Of these the quantiles are taken
/// up to 0.9, whatever shape they have; beyond, where few were ever seen, by the mean of what they
/// have above it, as if that were exponential (Hill 1975).
class Spread {
 public:
  struct Error {
    Inputs x{};
    double error = 0;
    /// As so many.
    double counts = 1;
  };

  /// What is taken for errors before there are any: those of a normal distribution.
  Spread();
  /// Oldest first; of two that follow each other the older counts `memory` of the newer.
  Spread(const std::vector<Error>& past, double memory);

  /// Of errors at x.
  double scale(const Inputs& x) const;
  /// In scales: of all errors the part `level` (below 1) is less.
  double quantile(double level) const;
  /// By how much a quantile grows, in scales, while the part above it shrinks to 1/e.
  double tail() const { return tail_; }

 private:
  double scale_without(const Inputs& x, std::size_t left_out) const;

  std::vector<Error> past_;
  /// How much each counts.
  std::vector<double> weights_;
  double usual_ = 0;
  /// In order, in scales, with how much each counts.
  std::vector<std::pair<double, double>> compared_;
  double weight_ = 0, start_of_tail_ = 0, tail_ = 0;
};

}  // namespace piracema::ckpt
