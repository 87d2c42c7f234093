#include "ckpt/predictor.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/ensure.h"
#include "ckpt/document.h"

namespace piracema::ckpt {

namespace {

// Before anything is learnt: a slow disk, so that the first window is not overrun.
constexpr double first_rate = 150e6, overhead_seconds = 0.15;
// Of what was learnt n dumps ago this to the n counts: some fifty dumps matter.
constexpr double memory = 0.98;
constexpr std::size_t errors_max = 200;
// How far a level is moved by a quantile that did not hold.
constexpr double step = 0.02;
// What is taken for the errors before there are any: a factor of 2 either way is usual.
constexpr double first_spread = 0.5;
constexpr std::size_t first_errors = 12;
constexpr const char* format = "piracema predictor";

// At a plain rate, alone.
double plain_seconds(const DumpFeatures& features) {
  return overhead_seconds + std::max(0.0, features.bytes) / first_rate;
}

// Of the normal distribution, near enough (Bowling et al. 2009).
double normal_quantile(double p) { return -std::log(1 / p - 1) / 1.702; }

}  // namespace

Predictor::Predictor() {
  for (std::size_t i = 0; i < inputs; ++i) covariance_[i][i] = i == 0 ? 1.0 : 0.25;
  for (std::size_t i = 0; i < first_errors; ++i) {
    errors_.push_back(first_spread *
                      normal_quantile((static_cast<double>(i) + 0.5) / first_errors));
  }
}

Predictor::Inputs Predictor::inputs_of(const DumpFeatures& features) {
  const double bytes = std::max(features.bytes, 1e6);
  return {1.0, std::log(bytes / 1e8), std::log1p(std::max(0.0, features.dirty_bytes) / bytes),
          std::log(std::max(1.0, features.writers))};
}

double Predictor::log_median(const Inputs& x) const {
  double sum = 0;
  for (std::size_t i = 0; i < inputs; ++i) sum += weights_[i] * x[i];
  return sum;
}

double Predictor::error_quantile(double level) const {
  std::vector<double> sorted = errors_;
  std::sort(sorted.begin(), sorted.end());
  const double count = static_cast<double>(sorted.size());
  // Above the largest error seen there is room for one that is larger still.
  const double place = level * (count + 1) - 1;
  if (place >= count - 1) {
    const double spread = sorted.back() - sorted[sorted.size() / 2];
    return sorted.back() + std::min(1.0, place - (count - 1)) * std::max(0.1, 0.5 * spread);
  }
  const auto below = static_cast<std::size_t>(std::max(0.0, place));
  const double part = std::max(0.0, place) - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

DumpForecast Predictor::forecast(const DumpFeatures& features) const {
  const Inputs x = inputs_of(features);
  const double plain = plain_seconds(features);
  const double scale = plain * std::exp(log_median(x));
  DumpForecast forecast;
  forecast.p50 = scale * std::exp(error_quantile(0.5));
  forecast.p95 = std::max(forecast.p50, scale * std::exp(error_quantile(level95_)));
  forecast.p99 = std::max(forecast.p95, scale * std::exp(error_quantile(level99_)));
  forecast.factors = {{"plain write, seconds", plain},
                      {"this store", std::exp(weights_[0])},
                      {"size", std::exp(weights_[1] * x[1])},
                      {"dirty page cache", std::exp(weights_[2] * x[2])},
                      {"writers", std::exp(weights_[3] * x[3])}};
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
  errors_.push_back(error);
  if (errors_.size() > errors_max || learnt_ < first_errors) errors_.erase(errors_.begin());
  learnt_ += 1;

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

std::string Predictor::encode() const {
  nlohmann::json covariance = nlohmann::json::array();
  for (const Inputs& row : covariance_) covariance.push_back(row);
  return seal(format, {{"learnt", learnt_},
                       {"levels", {level95_, level99_}},
                       {"weights", weights_},
                       {"covariance", covariance},
                       {"errors", errors_}});
}

Result<Predictor> Predictor::decode(const std::string& file, Bytes text) {
  Predictor predictor;
  const auto read = read_document(file, format, text, [&](const nlohmann::json& content) {
    predictor.learnt_ = number_in(content, "learnt");
    const auto levels = member(content, "levels").get<std::array<double, 2>>();
    predictor.level95_ = std::clamp(levels[0], 0.5, 1.02);
    predictor.level99_ = std::clamp(levels[1], 0.5, 1.02);
    predictor.weights_ = member(content, "weights").get<Inputs>();
    predictor.covariance_ = member(content, "covariance").get<std::array<Inputs, inputs>>();
    predictor.errors_ = member(content, "errors").get<std::vector<double>>();
    if (predictor.errors_.size() < 2 || predictor.errors_.size() > errors_max) {
      throw WrongDocument("want 2 to 200 errors");
    }
  });
  if (!read) return read.error();
  return predictor;
}

}  // namespace piracema::ckpt
