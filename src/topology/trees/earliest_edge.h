#pragma once

#include "topology/trees/tree.h"

namespace piracema::coll {

/// The tree that grows by the edge that completes earliest, of all edges from a rank that has the
/// message to one that has not ("earliest completing edge first"). Then children are ordered.
///
/// O(n² log n) time, O(n) memory besides lists of near ranks, which grow where they are needed.
Tree earliest_edge_tree(const Costs&, Rank root);

/// The best of what we know for these costs: earliest edge first; the same with an eye on what a
/// receiver can do next; the shortest paths. Improved step by step while there are at most
/// `improved_ranks_max` ranks: whoever gets the message last gets it from somebody else.
Tree fast_tree(const Costs&, Rank root);
constexpr Rank improved_ranks_max = 1'024;

}  // namespace piracema::coll
