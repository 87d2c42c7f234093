#include "topology/measure/guess.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace piracema::coll {

namespace {

/// Half-way between near and far links, seconds.
constexpr double near_latency = 0.2e-3;

double median_or(std::vector<double>& values, double usual) {
  if (values.empty()) return usual;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void guess_bandwidth(LinkTable& links) {
  std::vector<double> near, far;
  for (Rank a = 0; a < links.size(); ++a) {
    for (Rank b = 0; b < links.size(); ++b) {
      const Link& link = links.at(a, b);
      if (link.per_byte > 0) (link.latency < near_latency ? near : far).push_back(link.per_byte);
    }
  }
  const double of_near = median_or(near, 1e-9), of_far = median_or(far, 1e-8);
  for (Rank a = 0; a < links.size(); ++a) {
    for (Rank b = 0; b < links.size(); ++b) {
      Link& link = links.at(a, b);
      if (link.per_byte <= 0) link.per_byte = link.latency < near_latency ? of_near : of_far;
    }
  }
}

}  // namespace piracema::coll
