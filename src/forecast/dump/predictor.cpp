#include "forecast/dump/predictor.h"

#include <algorithm>
#include <cmath>

#include "base/ensure.h"

namespace piracema::ckpt {

namespace {

// Before anything is learnt: a slow disk, so that the first window is not overrun.
constexpr double first_rate = 150e6, swap_rate = 50e6, overhead_seconds = 0.13;
constexpr double process_seconds = 0.01, first_sample_seconds = 0.02;
// So much is written in the time that a dump takes which has nothing to write.
constexpr double overhead_bytes = 20e6;
// What waits to be written before is waited for, in part, and a store whose probe takes
// long is slow, as is one on a host that has other things to do; how far, has to be learnt. These
// are what the stores came to whose dumps were recorded (docs/design/013).
constexpr Regression::Before before = {.weights = {0, -0.05, 0.5, 0.3, 0.1, 0.4, 0, 0},
                                       .certainty = {0.5, 20, 4, 4, 10, 6, 1, 15}};
// Those of one window are alike, and none is a dump. One that is small beside what others have
// written tells of their turns and not of the store: it may find it idle between two of them.
constexpr double sample_counts = 0.5;
constexpr double usual_probe = 0.01;
// A dump unlike all others is at most so much less certain, in variances.
constexpr double doubt_most = 2;
// The scale of a weight's errors, where nothing was seen that it applies to, is at least this.
constexpr double unsure = 0.2;
// Of what was learnt n dumps ago this to the n counts: some fifty dumps matter.
constexpr double memory = 0.98;
constexpr std::size_t dumps_max = 120;
// How far a level is moved by a quantile that did not hold.
constexpr double step = 0.02;
// The first dumps say little of levels.
constexpr std::size_t levels_after = 10;
// Beyond p99 stalls are to be expected that nobody has seen yet.
constexpr double tail_least = 0.4, tail_most = 0.8;
// How a store was a quarter of an hour ago says little.
constexpr double recent_seconds = 300;
// One dump that took a hundred times as long as usual is to be expected, and no new store.
constexpr double error_most = 2;
// As if so much had been seen of dumps that have nothing to do with each other.
constexpr double unrelated = 0.4;

// At a plain rate, alone.
double plain_seconds(const DumpFeatures& features) {
  if (features.sample > 0) return first_sample_seconds + features.bytes / first_rate;
  return overhead_seconds + process_seconds * std::max(1.0, features.processes) +
         std::max(0.0, features.bytes) / first_rate +
         std::max(0.0, features.swapped_bytes) / swap_rate;
}

Inputs inputs_of(const DumpFeatures& features) {
  const double bytes = std::max(features.bytes, 1e6);
  const double load = std::max(0.0, features.dirty_bytes) + std::max(0.0, features.others_bytes);
  const double probe =
      features.probe > 0 ? std::log(std::clamp(features.probe, 1e-3, 60.0) / usual_probe) : 0;
  return {1.0,
          std::log(bytes / 1e8),
          std::log1p(load / (bytes + overhead_bytes)),
          std::log(std::max(1.0, features.writers)),
          probe,
          std::log(std::max(1.0, features.busy)),
          features.compressed,
          features.sample};
}

bool is_sample(const Inputs& x) { return x.back() > 0; }

double counts_of(const DumpFeatures& features) {
  if (features.sample == 0) return 1;
  return sample_counts * features.bytes / (features.bytes + features.dirty_bytes);
}

double freshness(double from, double to) {
  return std::exp(-std::max(0.0, to - from) / recent_seconds);
}

double bounded(double error) { return std::clamp(error, -error_most, error_most); }

}  // namespace

Predictor::Predictor() : line_(before) {}

double Predictor::log_median(const Inputs& x, double at) const {
  const double last = last_error_ * freshness(last_at_, at);
  return line_.predict(x) + persistence_ * last + spread_.scale(x) * spread_.quantile(0.5);
}

DumpForecast Predictor::forecast(const DumpFeatures& features) const {
  const Inputs x = inputs_of(features);
  const double plain = plain_seconds(features), median = log_median(x, features.at);
  // Where few dumps were like this one the line itself is not sure, however small the errors were
  // that it has made elsewhere.
  const double usual = spread_.scale(x);
  const double scale =
      std::hypot(usual, std::max(usual, unsure) * std::sqrt(std::min(doubt_most, line_.doubt(x))));
  const double middle = spread_.quantile(0.5);
  const auto at_level = [&](double level) {
    return plain * std::exp(median + scale * std::max(0.0, spread_.quantile(level) - middle));
  };
  DumpForecast forecast;
  forecast.p50 = plain * std::exp(median);
  forecast.p95 = at_level(level95_);
  forecast.p99 = std::max(forecast.p95, at_level(level99_));
  forecast.tail = std::clamp(scale * spread_.tail(), tail_least, tail_most);
  const Inputs& weights = line_.weights();
  forecast.factors = {{"plain write, seconds", plain},
                      {"this store", std::exp(weights[0])},
                      {"size", std::exp(weights[1] * x[1])},
                      {"what else is to be written", std::exp(weights[2] * x[2])},
                      {"writers", std::exp(weights[3] * x[3])},
                      {"probe of the store", std::exp(weights[4] * x[4])},
                      {"others on this host", std::exp(weights[5] * x[5])},
                      {"compression", std::exp(weights[6] * x[6])},
                      {"the last dump", std::exp(median - line_.predict(x))}};
  return forecast;
}

void Predictor::learn(const DumpFeatures& features, double seconds) {
  ENSURE(seconds > 0);
  if (features.sample == 0 && learnt_ >= levels_after) {
    const DumpForecast said = forecast(features);
    const auto move = [](double& level, double aim, bool held) {
      level = std::clamp(level + step * (held ? aim - 1 : aim), 0.5, 0.999);
    };
    move(level95_, 0.95, seconds <= said.p95);
    move(level99_, 0.99, seconds <= said.p99);
  }
  seen_.push_back(
      {inputs_of(features), std::log(seconds / plain_seconds(features)), counts_of(features)});
  times_.push_back(features.at);
  if (seen_.size() > dumps_max) {
    seen_.erase(seen_.begin());
    times_.erase(times_.begin());
  }
  learnt_ += features.sample == 0 ? 1 : 0;
  fit();
}

// From the start each time: what the model of today would have said of every dump of the past.
void Predictor::fit() {
  std::vector<Observation> tamed = seen_;
  for (Observation& one : tamed) {
    const double said = line_.predict(one.x);
    one.y = said + bounded(one.y - said);
  }
  line_ = Regression(before, tamed, memory);
  std::vector<Spread::Error> errors;
  double weight = std::pow(memory, static_cast<double>(seen_.size()) - 1);
  for (const Observation& one : seen_) {
    // Without this one the error would have been larger by as much as it counts itself.
    const double own = std::min(0.9, weight * one.counts * line_.doubt(one.x));
    errors.push_back({one.x, (one.y - line_.predict(one.x)) / std::sqrt(1 - own), one.counts});
    weight /= memory;
  }
  // What one dump took longer than it should have the next one does in part, if it follows soon.
  std::vector<double> before_it(errors.size(), 0);
  double together = 0, squares = unrelated;
  last_error_ = last_at_ = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (is_sample(errors[i].x)) continue;
    const double error = bounded(errors[i].error);
    before_it[i] = last_error_ * freshness(last_at_, times_[i]);
    together += before_it[i] * error;
    squares += before_it[i] * before_it[i];
    last_error_ = error;
    last_at_ = times_[i];
  }
  persistence_ = std::clamp(together / squares, 0.0, 0.9);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i].error -= persistence_ * before_it[i];
  spread_ = Spread(errors, memory);
}

}  // namespace piracema::ckpt
