#include "topology/trees/sites.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "topology/trees/classic.h"

namespace piracema::coll {

namespace {

/// Some ranks of others.
class PartCosts : public Costs {
 public:
  PartCosts(const Costs& all, const std::vector<Rank>& part) : all_(all), part_(part) {}
  Rank size() const override { return static_cast<Rank>(part_.size()); }
  SendCost cost(Rank from, Rank to) const override { return all_.cost(part_[from], part_[to]); }

 private:
  const Costs& all_;
  const std::vector<Rank>& part_;
};

Rank top_of(std::vector<Rank>& above, Rank rank) {
  while (above[rank] != rank) rank = above[rank] = above[above[rank]];
  return rank;
}

}  // namespace

std::vector<std::uint32_t> find_sites(const Costs& costs) {
  const auto edges = minimum_spanning_edges(costs);
  std::vector<double> delays;
  for (const auto& [a, b] : edges) delays.push_back(costs.cost(a, b).delay);
  std::vector<double> sorted = delays;
  std::sort(sorted.begin(), sorted.end());
  double widest = site_factor;
  double near = sorted.empty() ? 0 : sorted.back();
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double factor = sorted[i - 1] > 0 ? sorted[i] / sorted[i - 1] : 1;
    if (factor >= widest) {
      widest = factor;
      near = sorted[i - 1];
    }
  }
  std::vector<Rank> above(costs.size());
  std::iota(above.begin(), above.end(), Rank{0});
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (delays[i] <= near) above[top_of(above, edges[i].first)] = top_of(above, edges[i].second);
  }
  std::map<Rank, std::uint32_t> numbers;
  std::vector<std::uint32_t> site_of(costs.size());
  for (Rank rank = 0; rank < costs.size(); ++rank) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    site_of[rank] = numbers.emplace(top_of(above, rank), next).first->second;
  }
  return site_of;
}

std::vector<std::uint32_t> find_hosts(const Costs& costs,
                                      const std::vector<std::uint32_t>& site_of) {
  std::map<std::uint32_t, std::vector<Rank>> members;
  for (Rank rank = 0; rank < costs.size(); ++rank) members[site_of[rank]].push_back(rank);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> place(costs.size());
  for (const auto& [site, ranks] : members) {
    const auto inner = find_sites(PartCosts(costs, ranks));
    for (std::size_t i = 0; i < ranks.size(); ++i) place[ranks[i]] = {site, inner[i]};
  }
  std::vector<std::uint32_t> host_of(costs.size());
  for (Rank rank = 0; rank < costs.size(); ++rank) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    host_of[rank] = numbers.emplace(place[rank], next).first->second;
  }
  return host_of;
}

}  // namespace piracema::coll
