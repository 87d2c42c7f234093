#pragma once

#include <utility>
#include <vector>

#include "topology/trees/tree.h"

/// Trees of others, to compare with and to choose by `engine=`.
namespace piracema::coll {

/// MPICH's: rank by rank, whatever the links are.
Tree binomial_tree(Rank size, Rank root);

/// MagPIe's (Kielmann et al. 1999): the root sends to one rank of every other site, which passes it
/// on within its site by a binomial tree. `site_of` has the site of each rank.
Tree two_level_tree(const std::vector<std::uint32_t>& site_of, Rank root);

/// Dijkstra's, by the delay of each edge alone: senders are never thought to be busy.
Tree shortest_path_tree(const Costs&, Rank root);

/// A minimum spanning tree by the delay of the edges, ties by (delay, lower rank, higher rank): the
/// paper's tree. `cost(a, b)` is taken with a < b. Prim's algorithm, O(n²).
std::vector<std::pair<Rank, Rank>> minimum_spanning_edges(const Costs&);
/// It hangs from `root`, children ordered.
Tree minimum_spanning_tree(const Costs&, Rank root);

}  // namespace piracema::coll
