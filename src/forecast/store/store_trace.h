#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "base/random.h"
#include "forecast/dump/predictor.h"

/// Stores that are made up, for tests and for bench/ckpt: what a dump takes, after the factors that
/// paper 002 names and those that were measured (disks with a competing writer spread tenfold).
namespace piracema::ckpt {

enum class StoreKind { calm, contended, shared, changing };

class StoreTrace {
 public:
  StoreTrace(StoreKind kind, std::uint64_t seed) : kind_(kind), random_(seed) {}

  /// The next dump: what is known of it before, and how long it takes.
  std::pair<DumpFeatures, double> next() {
    count_ += 1;
    // Another writer comes and goes, for some dumps each time.
    if (random_.chance(0.1)) busy_ = !busy_;
    DumpFeatures features;
    features.bytes = 20e6 + random_.unit() * 1180e6;
    features.writers = kind_ == StoreKind::shared ? static_cast<double>(1 + random_.below(8)) : 1;
    return finish(features);
  }

  /// A sample, of the store as it is after the last dump.
  std::pair<DumpFeatures, double> sample(double bytes) {
    return finish({.bytes = bytes, .sample = 1});
  }

 private:
  std::pair<DumpFeatures, double> finish(DumpFeatures features) {
    const bool writes = busy_ && kind_ == StoreKind::contended;
    features.dirty_bytes = (writes ? 400e6 : 20e6) * random_.unit();
    double rate = kind_ == StoreKind::shared ? 110e6 : 800e6;
    if (kind_ == StoreKind::changing && count_ > 150) rate /= 4;
    // The knee: a server that many write to at once does worse than share (section 4.3.1).
    rate /= std::pow(features.writers, 1.2);
    const double noise = std::exp((writes ? 0.6 : 0.25) * normal());
    const double plain = 0.1 + (features.bytes + features.dirty_bytes) / rate;
    // Now and then a journal or a discard is in the way.
    const double stall = random_.chance(0.03) ? random_.unit() * 3 * plain : 0;
    return {features, plain * noise + stall};
  }

  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_.unit();
    return sum;
  }

  const StoreKind kind_;
  Random random_;
  bool busy_ = false;
  int count_ = 0;
};

}  // namespace piracema::ckpt
