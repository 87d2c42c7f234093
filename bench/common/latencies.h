#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace piracema::bench {

/// How long each item was on its way, in nanoseconds.
class Latencies {
 public:
  void add(std::int64_t ns) { all_.push_back(ns); }

  /// The latency that `share` of the items do not exceed, in microseconds; 0 without any item.
  double at(double share) {
    if (all_.empty()) return 0;
    std::sort(all_.begin(), all_.end());
    const auto last = static_cast<double>(all_.size() - 1);
    return static_cast<double>(all_[static_cast<std::size_t>(share * last)]) / 1e3;
  }

  /// "p50 p99 p99.9 max" in microseconds.
  void print() {
    std::printf("%.1f %.1f %.1f %.1f\n", at(0.5), at(0.99), at(0.999), at(1));
    std::fflush(stdout);
  }

 private:
  std::vector<std::int64_t> all_;
};

}  // namespace piracema::bench
