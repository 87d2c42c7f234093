#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

/// How long the next checkpoint takes: the question that paper 002 leaves open (sections 4 and 5).
namespace piracema::ckpt {

/// What is known before a dump. The paper's factors: the size of the job, how the store fares,
/// and how many write to it (sections 4.2.1, 4.2.2, 4.3.1).
struct DumpFeatures {
  /// Resident memory of the job.
  double bytes = 0;
  /// In the page cache, to be written by the same device before or with it.
  double dirty_bytes = 0;
  /// Hosts that write to the store at the same time, this one included.
  double writers = 1;
};

/// Times in seconds.
struct DumpForecast {
  double p50 = 0, p95 = 0, p99 = 0;
  /// What the median is made of: the time at a plain rate, and by what each factor multiplies it.
  struct Factor {
    std::string name;
    double value = 1;
  };
  std::vector<Factor> factors;
};

/// Learns from each dump how the store behaves, and how wrong it was itself: what it says of p95
/// has held in about 95 % of the dumps before. Pure.
///
/// The logarithm of the time is linear in features, by recursive least squares that forgets. Its
/// errors of the past give the quantiles, at levels that are moved until they hold (adaptive
/// conformal inference, Gibbs and Candès 2021): no shape of the distribution is assumed, and a
/// store that changes is followed.
class Predictor {
 public:
  Predictor();

  DumpForecast forecast(const DumpFeatures& features) const;
  /// A dump took `seconds`, more than 0.
  void learn(const DumpFeatures& features, double seconds);
  std::size_t learnt() const { return learnt_; }

  /// All that was learnt, as text, and back. Errc::corrupt.
  std::string encode() const;
  static Result<Predictor> decode(const std::string& file, Bytes text);

 private:
  static constexpr std::size_t inputs = 4;
  using Inputs = std::array<double, inputs>;
  static Inputs inputs_of(const DumpFeatures& features);
  double log_median(const Inputs& x) const;
  double error_quantile(double level) const;

  Inputs weights_{};
  std::array<Inputs, inputs> covariance_{};
  /// Logarithms of observed by predicted, oldest first.
  std::vector<double> errors_;
  /// At which the quantiles of past errors are taken to hold 95 % and 99 %.
  double level95_ = 0.95, level99_ = 0.99;
  std::size_t learnt_ = 0;
};

}  // namespace piracema::ckpt
