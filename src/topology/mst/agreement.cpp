#include "topology/mst/agreement.h"

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

bool Agreement::is_change(double before, double after, double heaviest) const {
  return std::abs(after - before) >= std::max(threshold_ * before, least_part * heaviest);
}

bool Agreement::may_change_tree(const std::vector<std::pair<Rank, double>>& costs,
                                const std::vector<Rank>& in_tree) const {
  return std::any_of(costs.begin(), costs.end(), [&](const auto& each) {
    const auto [to, cost] = each;
    const auto last = last_.find(to);
    if (last == last_.end()) return true;
    const bool belongs = std::find(in_tree.begin(), in_tree.end(), to) != in_tree.end();
    return (cost > last->second) == belongs && is_change(last->second, cost, heaviest_);
  });
}

bool Agreement::has_offer() const {
  return std::any_of(offers_.begin(), offers_.end(),
                     [](const auto& each) { return !each.second.empty(); });
}

std::optional<std::vector<std::pair<Rank, double>>> Agreement::agreed() {
  for (const auto& [to, cost] : mine_) {
    if (offers_[to].empty()) return std::nullopt;
  }
  std::vector<std::pair<Rank, double>> agreed;
  for (const auto& [to, cost] : mine_) {
    auto& offers = offers_[to];
    double mean = (cost + offers.front().cost) / 2;
    const double heaviest = std::min(heaviest_, offers.front().heaviest);
    offers.erase(offers.begin());
    const auto last = last_.find(to);
    if (last != last_.end() && !is_change(last->second, mean, heaviest)) mean = last->second;
    last_[to] = mean;
    agreed.emplace_back(to, mean);
  }
  return agreed;
}

}  // namespace piracema::coll::mst
