#pragma once

#include <vector>

namespace piracema::bench {

/// Of several runs.
struct Summary {
  double min = 0, median = 0, max = 0;
  /// How far the runs lie apart: (max - min) / median.
  double spread() const { return median > 0 ? (max - min) / median : 0; }
};

/// `values` is not empty.
Summary summarize(std::vector<double> values);

}  // namespace piracema::bench
