#include "forecast/dump/spread.h"

#include <algorithm>
#include <cmath>

namespace piracema::ckpt {

namespace {

// Before there are errors: a factor of 2 either way is usual (they are logarithms).
constexpr double first_scale = 0.3, first_weight = 2;
constexpr std::size_t first_errors = 12;
// Each of these counts as half of the oldest that there is.
constexpr double first_share = 0.5;
// The scale of all errors counts as so many that were made at the very place.
constexpr double usual_weight = 3;
// How far apart two places may be in each input to be alike.
constexpr Inputs alike = {1e9, 1.0, 0.5, 0.5, 0.8, 0.5, 0.5, 1.0};
constexpr double tail_level = 0.9;
// Of the normal distribution beyond 0.9, in scales (its mean distance is 0.8 deviations).
constexpr double first_tail = 0.6, first_tail_weight = 1;
constexpr double deviations = 1.25;

// Of the normal distribution, near enough (Bowling et al. 2009).
double normal_quantile(double p) { return -std::log(1 / p - 1) / 1.702; }

double likeness(const Inputs& a, const Inputs& b) {
  double apart = 0;
  for (std::size_t i = 1; i < inputs; ++i) {
    const double d = (a[i] - b[i]) / alike[i];
    apart += d * d;
  }
  const double near = 1 / (1 + apart / 2);
  return near * near;
}

}  // namespace

Spread::Spread() : Spread(std::vector<Error>(), 1) {}

Spread::Spread(const std::vector<Error>& past, double memory) : past_(past) {
  weights_.resize(past_.size());
  double weight = 1, sum = first_weight * first_scale, of = first_weight;
  for (std::size_t i = past_.size(); i-- > 0; weight *= memory) {
    weights_[i] = weight * past_[i].counts;
    sum += weights_[i] * std::abs(past_[i].error);
    of += weights_[i];
  }
  usual_ = sum / of;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    compared_.emplace_back(past_[i].error / scale_without(past_[i].x, i), weights_[i]);
  }
  for (std::size_t i = 0; i < first_errors; ++i) {
    const double level = (static_cast<double>(i) + 0.5) / first_errors;
    compared_.emplace_back(deviations * normal_quantile(level), first_share * weight);
  }
  std::sort(compared_.begin(), compared_.end());
  for (const auto& one : compared_) weight_ += one.second;
  start_of_tail_ = quantile(tail_level);
  sum = first_tail_weight * first_tail;
  of = first_tail_weight;
  for (const auto& [error, counts] : compared_) {
    if (error <= start_of_tail_) continue;
    sum += counts * (error - start_of_tail_);
    of += counts;
  }
  tail_ = sum / of;
}

// An error does not tell how large it may be itself.
double Spread::scale_without(const Inputs& x, std::size_t left_out) const {
  double sum = usual_weight * usual_, of = usual_weight;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    if (i == left_out) continue;
    const double counts = weights_[i] * likeness(x, past_[i].x);
    sum += counts * std::abs(past_[i].error);
    of += counts;
  }
  return sum / of;
}

double Spread::scale(const Inputs& x) const { return scale_without(x, past_.size()); }

double Spread::quantile(double level) const {
  if (level > tail_level) {
    return start_of_tail_ + tail_ * std::log((1 - tail_level) / (1 - level));
  }
  // Each stands in the middle of what it counts.
  double below = 0;
  const double place = level * weight_;
  for (std::size_t i = 0; i < compared_.size(); ++i) {
    const auto& [error, counts] = compared_[i];
    const double middle = below + counts / 2;
    if (middle >= place) {
      if (i == 0) return error;
      const auto& [previous, counted] = compared_[i - 1];
      return error - (error - previous) * (middle - place) / ((counts + counted) / 2);
    }
    below += counts;
  }
  return compared_.back().first;
}

}  // namespace piracema::ckpt
