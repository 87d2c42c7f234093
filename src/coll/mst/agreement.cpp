#include "coll/mst/agreement.h"

#include <cmath>

namespace piracema::coll::mst {

std::optional<std::vector<std::pair<Rank, double>>> Agreement::agreed() {
  for (const auto& [to, cost] : mine_) {
    if (offers_[to].empty()) return std::nullopt;
  }
  std::vector<std::pair<Rank, double>> agreed;
  for (const auto& [to, cost] : mine_) {
    auto& offers = offers_[to];
    double mean = (cost + offers.front()) / 2;
    offers.erase(offers.begin());
    const auto last = last_.find(to);
    if (last != last_.end() && std::abs(mean - last->second) < threshold_ * last->second) {
      mean = last->second;
    }
    last_[to] = mean;
    agreed.emplace_back(to, mean);
  }
  return agreed;
}

}  // namespace piracema::coll::mst
