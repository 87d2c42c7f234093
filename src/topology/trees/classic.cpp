#include "topology/trees/classic.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace piracema::coll {

namespace {

constexpr double far = std::numeric_limits<double>::infinity();

/// A binomial tree over `ranks`, the first of which is its top.
void grow_binomial(Tree& tree, const std::vector<Rank>& ranks) {
  const std::size_t size = ranks.size();
  std::size_t reach = 1;
  while (reach < size) reach *= 2;
  // The top sends to the farthest first, and so do all below it, as in MPICH.
  for (std::size_t i = 0; i < size; ++i) {
    std::size_t low = 1;
    while (low < reach && (i & low) == 0) low *= 2;
    for (std::size_t stride = low / 2; stride > 0; stride /= 2) {
      if (i + stride < size) tree.adopt(ranks[i], ranks[i + stride]);
    }
  }
}

}  // namespace

Tree binomial_tree(Rank size, Rank root) {
  std::vector<Rank> ranks(size);
  for (Rank i = 0; i < size; ++i) ranks[i] = (root + i) % size;
  Tree tree(size, root);
  grow_binomial(tree, ranks);
  return tree;
}

Tree two_level_tree(const std::vector<std::uint32_t>& site_of, Rank root) {
  const auto size = static_cast<Rank>(site_of.size());
  std::uint32_t sites = 0;
  for (const std::uint32_t site : site_of) sites = std::max(sites, site + 1);
  std::vector<std::vector<Rank>> members(sites);
  members[site_of[root]].push_back(root);
  for (Rank rank = 0; rank < size; ++rank) {
    if (rank != root) members[site_of[rank]].push_back(rank);
  }
  Tree tree(size, root);
  // Far sites first: the root's own site can wait.
  for (std::uint32_t site = 0; site < sites; ++site) {
    if (site == site_of[root] || members[site].empty()) continue;
    tree.adopt(root, members[site].front());
    grow_binomial(tree, members[site]);
  }
  grow_binomial(tree, members[site_of[root]]);
  return tree;
}

Tree shortest_path_tree(const Costs& costs, Rank root) {
  const Rank size = costs.size();
  Tree tree(size, root);
  std::vector<double> distance(size, far);
  std::vector<Rank> by(size, no_rank);
  std::vector<bool> done(size, false);
  distance[root] = 0;
  for (Rank count = 0; count < size; ++count) {
    Rank nearest = no_rank;
    for (Rank rank = 0; rank < size; ++rank) {
      if (!done[rank] && (nearest == no_rank || distance[rank] < distance[nearest])) nearest = rank;
    }
    done[nearest] = true;
    if (nearest != root) tree.adopt(by[nearest], nearest);
    for (Rank to = 0; to < size; ++to) {
      if (done[to]) continue;
      const double through = distance[nearest] + costs.cost(nearest, to).delay;
      if (through < distance[to]) {
        distance[to] = through;
        by[to] = nearest;
      }
    }
  }
  order_children(tree, costs);
  return tree;
}

std::vector<std::pair<Rank, Rank>> minimum_spanning_edges(const Costs& costs) {
  using Weight = std::tuple<double, Rank, Rank>;
  const Rank size = costs.size();
  std::vector<Weight> least(size, {far, no_rank, no_rank});
  std::vector<bool> inside(size, false);
  std::vector<std::pair<Rank, Rank>> edges;
  Rank added = 0;
  inside[0] = size > 0;
  for (Rank count = 1; count < size; ++count) {
    Rank next = no_rank;
    for (Rank rank = 0; rank < size; ++rank) {
      if (inside[rank]) continue;
      const auto [low, high] = std::minmax(rank, added);
      least[rank] = std::min(least[rank], Weight{costs.cost(low, high).delay, low, high});
      if (next == no_rank || least[rank] < least[next]) next = rank;
    }
    edges.emplace_back(std::get<1>(least[next]), std::get<2>(least[next]));
    inside[next] = true;
    added = next;
  }
  return edges;
}

Tree minimum_spanning_tree(const Costs& costs, Rank root) {
  Tree tree = hang(costs.size(), root, minimum_spanning_edges(costs));
  order_children(tree, costs);
  return tree;
}

}  // namespace piracema::coll
