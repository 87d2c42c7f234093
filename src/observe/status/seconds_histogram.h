#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace piracema::observe {

/// How often something took how long.
struct SecondsHistogram {
  /// Each bucket has what took at most so many seconds; one more has the rest.
  static constexpr std::array<double, 12> bounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.1,
                                                    0.25,  0.5,    1,     5,    15,    60};

  std::array<std::uint64_t, bounds.size() + 1> counts{};
  std::uint64_t count = 0;
  double sum = 0;
  auto fields() { return std::tie(counts, count, sum); }

  SecondsHistogram& operator+=(const SecondsHistogram& other) {
    for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
      counts[bucket] += other.counts[bucket];
    }
    count += other.count;
    sum += other.sum;
    return *this;
  }

  void add(double seconds) {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && seconds > bounds[bucket]) bucket += 1;
    counts[bucket] += 1;
    count += 1;
    sum += seconds;
  }
};

}  // namespace piracema::observe
