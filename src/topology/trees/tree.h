#pragma once

#include <piracema/error.h>

#include <span>
#include <vector>

#include "topology/trees/costs.h"

namespace piracema::coll {

/// A spanning tree with a root. Children are in the order in which their parent sends to them.
struct Tree {
  Rank root = 0;
  /// no_rank for the root.
  std::vector<Rank> parent;
  std::vector<std::vector<Rank>> children;

  Tree() = default;
  /// Only the root so far; `adopt` adds the others.
  Tree(Rank size, Rank new_root) : root(new_root), parent(size, no_rank), children(size) {}

  Rank size() const { return static_cast<Rank>(parent.size()); }
  void adopt(Rank by, Rank child) {
    parent[child] = by;
    children[by].push_back(child);
  }
  /// Or is it itself.
  bool is_below(Rank rank, Rank top) const {
    for (; rank != no_rank; rank = parent[rank]) {
      if (rank == top) return true;
    }
    return false;
  }
  bool operator==(const Tree&) const = default;
};

/// The tree of these undirected edges, as it hangs from `root`. The edges span all ranks.
Tree hang(Rank size, Rank root, const std::vector<std::pair<Rank, Rank>>& edges);

/// Every rank, each one before its children, the root first.
std::vector<Rank> top_down(const Tree&);

/// When each rank has the message, the root at 0; seconds.
std::vector<double> arrivals(const Tree&, const Costs&);
/// When the last one has it.
double completion(const Tree&, const Costs&);

/// Has every parent send first to the child that needs the most time from then on. No other order
/// of the children completes earlier (Jackson's rule for jobs with delivery times).
void order_children(Tree&, const Costs&);

/// A subtree as it travels in a message: each rank with the number of ranks below it, parents
/// before children. What a child has to know is a contiguous part of what its parent got.
struct Branch {
  Rank rank = 0;
  std::uint32_t below = 0;
  bool operator==(const Branch&) const = default;
};
using Branches = std::vector<Branch>;

Branches to_branches(const Tree&);
/// The children of the first rank, each with all that is below it. `branches` is well formed.
std::vector<std::span<const Branch>> children_of(std::span<const Branch> branches);
/// Errc::corrupt unless this is one subtree of distinct ranks below `size`.
Result<Done> check(std::span<const Branch> branches, Rank size);
/// Of a tree what is needed to reach those whose way from the root is another one than in `former`;
/// empty if there are none. Both are well formed, of the same ranks, with the same root.
Branches reached_otherwise(std::span<const Branch> former, std::span<const Branch> tree);
/// Of all ranks; `branches` is well formed and has each of them.
Tree to_tree(std::span<const Branch> branches);

}  // namespace piracema::coll
