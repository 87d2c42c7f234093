#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "forecast/dump/regression.h"
#include "forecast/dump/spread.h"

/// How long the next checkpoint takes: the question that paper 002 leaves open (sections 4 and 5).
namespace piracema::ckpt {

/// What is known before a dump. The paper's factors: the size of the job, its share of the memory,
/// how the store fares, and how many write to it (sections 4.2.1, 4.2.2, 4.3.1).
struct DumpFeatures {
  /// Resident memory of the job.
  double bytes = 0;
  /// Of the job, in swap: to be read before it can be saved.
  double swapped_bytes = 0;
  double processes = 1;
  /// In the page cache, to be written by the same device before or with it (StoreDevice).
  double dirty_bytes = 0;
  /// Dumps to the same store at about the same time, this one included, and what the others bring.
  double writers = 1, others_bytes = 0;
  /// How long it took just now to write a quarter of a MiB to the store for good; 0: not known.
  double probe = 0;
  /// Processes that want a core, for each core of this host; a dump is one of them.
  double busy = 0;
  /// Seconds since 1970.
  double at = 0;
  /// 1 if its pages are compressed, which takes time and leaves less to be written; else 0.
  double compressed = 0;
  /// 1 if it is no dump but a sample: `bytes` written and synced while the job runs on; else 0.
  double sample = 0;

  auto fields() {
    return std::tie(bytes, swapped_bytes, processes, dirty_bytes, writers, others_bytes, probe,
                    busy, at, compressed, sample);
  }
};

/// Times in seconds.
struct DumpForecast {
  double p50 = 0, p95 = 0, p99 = 0;
  /// Beyond p99 a dump takes longer than t with a probability that falls as t^(-1 / tail).
  double tail = 0.3;
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
/// The logarithm of the time is linear in features (Regression), by the dumps of the past of which
/// the newest count most. What it would have said of each of them without having seen it gives the
/// errors, and these the quantiles (Spread), at levels that are moved until they hold (adaptive
/// conformal inference, Gibbs and Candès 2021): a store that changes is followed.
class Predictor {
 public:
  Predictor();

  DumpForecast forecast(const DumpFeatures& features) const;
  /// A dump, or a sample, took `seconds`, more than 0.
  void learn(const DumpFeatures& features, double seconds);
  /// So many dumps.
  std::size_t learnt() const { return learnt_; }

 private:
  /// The logarithm of the median's ratio to the plain time.
  double log_median(const Inputs& x, double at) const;
  void fit();

  /// Oldest first, and when each was.
  std::vector<Observation> seen_;
  std::vector<double> times_;
  Regression line_;
  Spread spread_;
  /// How much of a dump's error the next one has as well, and the error of the last and its time.
  double persistence_ = 0, last_error_ = 0, last_at_ = 0;
  /// At which quantiles are taken to hold 95 % and 99 %.
  double level95_ = 0.95, level99_ = 0.995;
  std::size_t learnt_ = 0;
};

}  // namespace piracema::ckpt
