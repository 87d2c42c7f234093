#include "bench/common/statistics.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::bench {

Summary summarize(std::vector<double> values) {
  ENSURE(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

}  // namespace piracema::bench
