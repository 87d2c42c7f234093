#include "ckpt/predictor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/ensure.h"

namespace piracema::ckpt {

namespace {

// Before anything is learnt: a slow disk, so that the first window is not overrun.
constexpr double first_rate = 150e6, swap_rate = 50e6, overhead_seconds = 0.13;
constexpr double process_seconds = 0.01;
// Of the inputs: what waits to be written before is waited for, in part, and a store whose probe takes
// long is slow; how far, has to be learnt.
constexpr std::array<double, 6> first_weights = {0, 0, 0.5, 0.3, 0.3, 0};
constexpr double usual_probe = 0.01;
// Of what was learnt n dumps ago this to the n counts: some fifty dumps matter.
constexpr double memory = 0.98;
constexpr std::size_t errors_max = 200;
// How far a level is moved by a quantile that did not hold.
constexpr double step = 0.02;
// What is taken for the errors before there are any: a factor of 2 either way is usual.
constexpr double first_spread = 0.5;
constexpr std::size_t first_errors = 12;
// How a store was a quarter of an hour ago says little.
constexpr double recent_seconds = 300;
// How far apart dumps may be in each input to be alike; those that are not count a little as well.
constexpr double alike[] = {1e9, 0.7, 0.5, 0.4, 0.7, 0.5};
constexpr double unlike_weight = 0.15;
constexpr std::size_t tail_errors_least = 4;

// At a plain rate, alone.
double plain_seconds(const DumpFeatures& features) {
  return overhead_seconds + process_seconds * std::max(1.0, features.processes) +
         std::max(0.0, features.bytes) / first_rate +
         std::max(0.0, features.swapped_bytes) / swap_rate;
}

// Of the normal distribution, near enough (Bowling et al. 2009).
double normal_quantile(double p) { return -std::log(1 / p - 1) / 1.702; }

}  // namespace

Predictor::Predictor() : weights_(first_weights) {
  for (std::size_t i = 0; i < inputs; ++i) covariance_[i][i] = i == 0 ? 1.0 : 0.25;
  for (std::size_t i = 0; i < first_errors; ++i) {
    errors_.push_back(
        {first_spread * normal_quantile((static_cast<double>(i) + 0.5) / first_errors), {}});
  }
}

Predictor::Inputs Predictor::inputs_of(const DumpFeatures& features) const {
  const double bytes = std::max(features.bytes, 1e6);
  const double load = std::max(0.0, features.dirty_bytes) + std::max(0.0, features.others_bytes);
  const double probe =
      features.probe > 0 ? std::log(std::clamp(features.probe, 1e-3, 60.0) / usual_probe) : 0;
  const double age = std::max(0.0, features.at - recent_at_);
  return {1.0,
          std::log(bytes / 1e8),
          std::log1p(load / bytes),
          std::log(std::max(1.0, features.writers)),
          probe,
          recent_ * std::exp(-age / recent_seconds)};
}

double Predictor::log_median(const Inputs& x) const {
  double sum = 0;
  for (std::size_t i = 0; i < inputs; ++i) sum += weights_[i] * x[i];
  return sum;
}

Predictor::Weighed Predictor::weigh(const Inputs& x) const {
  Weighed all;
  for (const PastError& past : errors_) {
    double apart = 0;
    for (std::size_t i = 1; i < inputs; ++i) {
      apart += std::pow((x[i] - past.x[i]) / alike[i], 2);
    }
    const double weight = unlike_weight + std::exp(-apart / 2);
    all.errors.emplace_back(past.error, weight);
    all.weight += weight;
  }
  std::sort(all.errors.begin(), all.errors.end());
  return all;
}

double Predictor::Weighed::quantile(double level) const {
  // The dump to come counts as one of them, and may take longer than all.
  const double place = level * (weight + 1);
  double below = 0, previous = errors.front().first;
  for (const auto& [error, w] : errors) {
    if (below + w >= place) return previous + (error - previous) * std::max(0.0, place - below) / w;
    below += w;
    previous = error;
  }
  const double spread = errors.back().first - errors[errors.size() / 2].first;
  return errors.back().first + std::min(1.0, place - weight) * std::max(0.1, 0.5 * spread);
}

// The mean of what the largest errors, logarithms all of them, have beyond the tenth part of them.
double Predictor::Weighed::tail() const {
  const std::size_t count = std::max(tail_errors_least, errors.size() / 10);
  const double from = errors[errors.size() - std::min(count + 1, errors.size())].first;
  double sum = 0, of = 0;
  for (std::size_t i = errors.size() - std::min(count, errors.size()); i < errors.size(); ++i) {
    sum += errors[i].second * (errors[i].first - from);
    of += errors[i].second;
  }
  return std::clamp(sum / of, 0.1, 0.6);
}

DumpForecast Predictor::forecast(const DumpFeatures& features) const {
  const Inputs x = inputs_of(features);
  const double plain = plain_seconds(features);
  const double scale = plain * std::exp(log_median(x));
  const Weighed errors = weigh(x);
  DumpForecast forecast;
  forecast.p50 = scale * std::exp(errors.quantile(0.5));
  forecast.p95 = std::max(forecast.p50, scale * std::exp(errors.quantile(level95_)));
  forecast.p99 = std::max(forecast.p95, scale * std::exp(errors.quantile(level99_)));
  forecast.tail = errors.tail();
  forecast.factors = {{"plain write, seconds", plain},
                      {"this store", std::exp(weights_[0])},
                      {"size", std::exp(weights_[1] * x[1])},
                      {"what else is to be written", std::exp(weights_[2] * x[2])},
                      {"writers", std::exp(weights_[3] * x[3])},
                      {"probe of the store", std::exp(weights_[4] * x[4])},
                      {"the last dump", std::exp(weights_[5] * x[5])}};
  return forecast;
}

void Predictor::learn(const DumpFeatures& features, double seconds) {
  ENSURE(seconds > 0);
  const DumpForecast said = forecast(features);
  const auto move = [](double& level, double aim, bool held) {
    level = std::clamp(level + step * (held ? aim - 1 : aim), 0.5, 1.02);
  };
  if (learnt_ >= 5) {
    move(level95_, 0.95, seconds <= said.p95);
    move(level99_, 0.99, seconds <= said.p99);
  }
  const Inputs x = inputs_of(features);
  const double error = std::log(seconds / plain_seconds(features)) - log_median(x);
  errors_.push_back({error, x});
  if (errors_.size() > errors_max || learnt_ < first_errors) errors_.erase(errors_.begin());
  learnt_ += 1;
  recent_ = std::clamp(error + weights_[inputs - 1] * x[inputs - 1], -2.0, 2.0);
  recent_at_ = features.at;

  // Recursive least squares with forgetting. One dump that took a hundred times as long as usual
  // is an error to be expected, not a new store.
  Inputs gain{};
  double denominator = memory;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) gain[i] += covariance_[i][j] * x[j];
    denominator += gain[i] * x[i];
  }
  const double bounded = std::clamp(error, -2.0, 2.0);
  std::array<Inputs, inputs> next{};
  for (std::size_t i = 0; i < inputs; ++i) {
    weights_[i] += gain[i] / denominator * bounded;
    for (std::size_t j = 0; j < inputs; ++j) {
      // What is never seen to vary must not become less certain without bound.
      next[i][j] = (covariance_[i][j] - gain[i] * gain[j] / denominator) / memory;
    }
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    const double most = i == 0 ? 1.0 : 0.25;
    if (next[i][i] > most) {
      const double shrink = std::sqrt(most / next[i][i]);
      for (std::size_t j = 0; j < inputs; ++j) {
        next[i][j] *= shrink;
        next[j][i] *= shrink;
      }
    }
  }
  covariance_ = next;
}

}  // namespace piracema::ckpt
