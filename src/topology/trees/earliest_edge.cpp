#include "topology/trees/earliest_edge.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "topology/trees/classic.h"

namespace piracema::coll {

namespace {

/// Hands out the ranks that have no message yet, in the order of what it costs `from` to reach
/// them. It looks at a few of the nearest first, and at twice as many when those are used up: with
/// lists of all ranks, ten thousand ranks would want a hundred million entries.
class Nearest {
 public:
  Nearest(Rank from, const std::vector<double>* bonus) : from_(from), bonus_(bonus) {}

  /// no_rank when all have the message.
  Rank next(const Costs& costs, const std::vector<bool>& informed) {
    while (true) {
      while (place_ < near_.size() && informed[near_[place_].second]) place_ += 1;
      if (place_ < near_.size()) return near_[place_].second;
      if (!look(costs, informed)) return no_rank;
    }
  }
  double key() const { return near_[place_].first; }

 private:
  bool look(const Costs& costs, const std::vector<bool>& informed) {
    near_.clear();
    place_ = 0;
    for (Rank to = 0; to < costs.size(); ++to) {
      if (informed[to] || to == from_) continue;
      near_.emplace_back(costs.cost(from_, to).delay + (bonus_ ? (*bonus_)[to] : 0), to);
    }
    const std::size_t kept = std::min(near_.size(), wanted_);
    std::partial_sort(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(kept),
                      near_.end());
    near_.resize(kept);
    near_.shrink_to_fit();
    wanted_ *= 2;
    return kept > 0;
  }

  Rank from_;
  const std::vector<double>* bonus_;
  std::size_t wanted_ = 32;
  std::size_t place_ = 0;
  std::vector<std::pair<double, Rank>> near_;
};

/// `bonus` is added to what it costs to reach a rank, when edges are compared; may be null.
Tree grow(const Costs& costs, Rank root, const std::vector<double>* bonus) {
  const Rank size = costs.size();
  Tree tree(size, root);
  std::vector<bool> informed(size, false);
  std::vector<double> free(size, 0);
  std::vector<Nearest> nearest;
  nearest.reserve(size);
  for (Rank rank = 0; rank < size; ++rank) nearest.emplace_back(rank, bonus);

  // Of each rank with the message, the edge of its that completes first. An entry may be too early,
  // when somebody else has reached that receiver; it is then put back with the next one.
  using Edge = std::pair<double, Rank>;
  std::priority_queue<Edge, std::vector<Edge>, std::greater<>> edges;
  const auto offer = [&](Rank from) {
    if (nearest[from].next(costs, informed) != no_rank) {
      edges.emplace(free[from] + nearest[from].key(), from);
    }
  };
  informed[root] = true;
  offer(root);
  while (!edges.empty()) {
    const auto [key, from] = edges.top();
    edges.pop();
    const Rank to = nearest[from].next(costs, informed);
    if (to == no_rank) continue;
    if (free[from] + nearest[from].key() > key) {
      offer(from);
      continue;
    }
    const SendCost cost = costs.cost(from, to);
    tree.adopt(from, to);
    informed[to] = true;
    free[to] = free[from] + cost.delay;
    free[from] += cost.busy;
    offer(from);
    offer(to);
  }
  order_children(tree, costs);
  return tree;
}

/// What it costs each rank to reach the one that is nearest to it: who reaches others soon is
/// worth reaching.
std::vector<double> reach(const Costs& costs) {
  std::vector<double> nearest(costs.size(), 0);
  for (Rank from = 0; from < costs.size(); ++from) {
    double least = -1;
    for (Rank to = 0; to < costs.size(); ++to) {
      if (to == from) continue;
      const double delay = costs.cost(from, to).delay;
      if (least < 0 || delay < least) least = delay;
    }
    nearest[from] = std::max(least, 0.0);
  }
  return nearest;
}

void move_to(Tree& tree, Rank rank, Rank parent) {
  std::erase(tree.children[tree.parent[rank]], rank);
  tree.adopt(parent, rank);
}

/// Gives some rank on the path to the last arrival another parent, if all then have the message
/// earlier. False if no single move helps.
bool improve(Tree& tree, const Costs& costs) {
  const auto at = arrivals(tree, costs);
  const auto last = static_cast<Rank>(std::max_element(at.begin(), at.end()) - at.begin());
  const double before = at[last];
  for (Rank moved = last; moved != tree.root; moved = tree.parent[moved]) {
    std::vector<std::pair<double, Rank>> parents;
    for (Rank to = 0; to < tree.size(); ++to) {
      if (to == tree.parent[moved] || tree.is_below(to, moved)) continue;
      const double earliest = at[to] + costs.cost(to, moved).delay;
      if (earliest < at[moved]) parents.emplace_back(earliest, to);
    }
    std::sort(parents.begin(), parents.end());
    if (parents.size() > 8) parents.resize(8);
    for (const auto& [earliest, parent] : parents) {
      Tree tried = tree;
      move_to(tried, moved, parent);
      order_children(tried, costs);
      if (completion(tried, costs) < before * (1 - 1e-9)) {
        tree = std::move(tried);
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Tree earliest_edge_tree(const Costs& costs, Rank root) { return grow(costs, root, nullptr); }

Tree fast_tree(const Costs& costs, Rank root) {
  Tree best = earliest_edge_tree(costs, root);
  if (costs.size() <= 2) return best;
  if (costs.size() > improved_ranks_max) return best;
  const auto bonus = reach(costs);
  for (Tree& other :
       std::vector<Tree>{grow(costs, root, &bonus), shortest_path_tree(costs, root)}) {
    if (completion(other, costs) < completion(best, costs)) best = std::move(other);
  }
  // Each step costs O(n²) at most; small groups settle after a few.
  for (int step = 0; step < 64 && improve(best, costs); ++step) {
  }
  return best;
}

}  // namespace piracema::coll
