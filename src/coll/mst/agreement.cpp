#include "coll/mst/agreement.h"

#include <algorithm>
#include <cmath>

namespace piracema::coll::mst {

namespace {
/// Of the heaviest link that both ends have: smaller changes are none.
constexpr double least_part = 0.01;
}  // namespace

void Agreement::measured(std::vector<std::pair<Rank, double>> costs) {
  mine_ = std::move(costs);
  heaviest_ = 0;
  for (const auto& [to, cost] : mine_) heaviest_ = std::max(heaviest_, cost);
}

std::optional<std::vector<std::pair<Rank, double>>> Agreement::agreed() {
  for (const auto& [to, cost] : mine_) {
    if (offers_[to].empty()) return std::nullopt;
  }
  std::vector<std::pair<Rank, double>> agreed;
  for (const auto& [to, cost] : mine_) {
    auto& offers = offers_[to];
    double mean = (cost + offers.front().cost) / 2;
    const double least = least_part * std::min(heaviest_, offers.front().heaviest);
    offers.erase(offers.begin());
    const auto last = last_.find(to);
    if (last != last_.end() &&
        std::abs(mean - last->second) < std::max(threshold_ * last->second, least)) {
      mean = last->second;
    }
    last_[to] = mean;
    agreed.emplace_back(to, mean);
  }
  return agreed;
}

}  // namespace piracema::coll::mst
