#pragma once

#include <array>
#include <cstddef>
#include <deque>

namespace piracema::coll {

/// What one link will take next, from what it took: several predictors run side by side, and the
/// one whose past errors are least speaks, as in the Network Weather Service (Wolski 1998). Pure.
class Forecaster {
 public:
  void add(double value);
  /// 0 before the first value.
  double forecast() const { return predictions_[best_]; }
  bool knows() const { return count_ > 0; }
  /// Mean distance of the forecasts from what came, the newest counting most.
  double error() const { return errors_[best_]; }
  /// "last", "mean of 5", "median of 21" …
  const char* speaks() const;

 private:
  static constexpr std::size_t window = 21;
  static constexpr std::size_t predictors = 8;

  void predict();

  std::deque<double> recent_;
  std::size_t count_ = 0;
  double sum_ = 0;
  std::array<double, predictors> predictions_{};
  std::array<double, predictors> errors_{};
  std::size_t best_ = 0;
};

}  // namespace piracema::coll
