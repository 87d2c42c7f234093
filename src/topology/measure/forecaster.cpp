#include "topology/measure/forecaster.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace piracema::coll {

namespace {

constexpr std::array names{"last",        "mean of all",  "mean of 5",    "mean of 21",
                           "median of 5", "median of 21", "smoothed 0.3", "smoothed 0.1"};
/// What an error of the past counts when the next one comes.
constexpr double fading = 0.9;

double mean(const std::deque<double>& values, std::size_t of_last) {
  const std::size_t count = std::min(values.size(), of_last);
  double sum = 0;
  for (std::size_t i = values.size() - count; i < values.size(); ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

double median(const std::deque<double>& values, std::size_t of_last) {
  const std::size_t count = std::min(values.size(), of_last);
  std::vector<double> sorted(values.end() - static_cast<std::ptrdiff_t>(count), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace

void Forecaster::add(double value) {
  if (count_ > 0) {
    for (std::size_t i = 0; i < predictors; ++i) {
      errors_[i] = fading * errors_[i] + (1 - fading) * std::abs(predictions_[i] - value);
    }
  }
  recent_.push_back(value);
  if (recent_.size() > window) recent_.pop_front();
  count_ += 1;
  sum_ += value;
  predict();
  best_ =
      static_cast<std::size_t>(std::min_element(errors_.begin(), errors_.end()) - errors_.begin());
}

void Forecaster::predict() {
  const double last = recent_.back();
  const double smoothed = predictions_[6], slowly = predictions_[7];
  predictions_ = {last,
                  sum_ / static_cast<double>(count_),
                  mean(recent_, 5),
                  mean(recent_, 21),
                  median(recent_, 5),
                  median(recent_, 21),
                  count_ == 1 ? last : 0.7 * smoothed + 0.3 * last,
                  count_ == 1 ? last : 0.9 * slowly + 0.1 * last};
}

const char* Forecaster::speaks() const { return names[best_]; }

}  // namespace piracema::coll
