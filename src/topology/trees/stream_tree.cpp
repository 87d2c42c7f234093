#include "topology/trees/stream_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "base/ensure.h"

namespace piracema::coll {

namespace {

/// Who is reached next.
enum class First {
  early,   ///< Whoever can be reached earliest.
  wide,    ///< Who can pass it on to most of those who wait.
  scarce,  ///< Who can be reached by fewest of those who wait.
};

/// Grows a tree none of whose links and uplinks is busy for longer than `limit` a message.
class Growth {
 public:
  Growth(const StreamCosts& costs, Rank root, double limit)
      : costs_(costs),
        limit_(limit * (1 + 1e-9)),
        tree_(costs.size(), root),
        arrival_(costs.size(), infinite),
        room_(costs.size()) {
    arrival_[root] = 0;
    for (Rank rank = 0; rank < costs.size(); ++rank) {
      const double most = std::floor(limit_ / std::max(costs.uplink(rank), 1e-12));
      room_[rank] = static_cast<Rank>(std::min<double>(most, costs.size()));
    }
  }

  /// nullopt where it comes to an end before all are reached.
  std::optional<Tree> run(First first) {
    for (Rank reached = 1; reached < costs_.size(); ++reached) {
      if (!grow(first)) return std::nullopt;
    }
    return std::move(tree_);
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  bool reached(Rank rank) const { return arrival_[rank] != infinite; }
  bool allows(Rank from, Rank to) const { return costs_.link(from, to) <= limit_; }

  bool grow(First first) {
    // What is least is best.
    using Score = std::tuple<double, double, Rank, Rank>;
    std::optional<Score> best;
    for (Rank to = 0; to < costs_.size(); ++to) {
      if (reached(to)) continue;
      const double waits = first == First::wide     ? -static_cast<double>(width(to))
                           : first == First::scarce ? static_cast<double>(ways_to(to))
                                                    : 0;
      for (Rank from = 0; from < costs_.size(); ++from) {
        if (!reached(from) || room_[from] == 0 || !allows(from, to)) continue;
        const Score score{waits, arrival_by(from, to), from, to};
        if (!best || score < *best) best = score;
      }
    }
    if (!best) return false;
    const auto [waits, arrival, from, to] = *best;
    tree_.adopt(from, to);
    arrival_[to] = arrival;
    room_[from] -= 1;
    return true;
  }

  double arrival_by(Rank from, Rank to) const {
    const auto before = static_cast<double>(tree_.children[from].size());
    return arrival_[from] + before * costs_.uplink(from) + costs_.link(from, to) +
           costs_.latency(from, to);
  }

  /// How many of those who wait it could reach.
  Rank width(Rank rank) const {
    Rank others = 0;
    for (Rank to = 0; to < costs_.size(); ++to) {
      if (to != rank && !reached(to) && allows(rank, to)) others += 1;
    }
    return std::min(others, room_[rank]);
  }

  /// By how many of those who wait it could be reached.
  Rank ways_to(Rank rank) const {
    Rank others = 0;
    for (Rank from = 0; from < costs_.size(); ++from) {
      if (from != rank && !reached(from) && room_[from] != 0 && allows(from, rank)) others += 1;
    }
    return others;
  }

  const StreamCosts& costs_;
  const double limit_;
  Tree tree_;
  std::vector<double> arrival_;
  /// How many more children each may have.
  std::vector<Rank> room_;
};

std::optional<Tree> tree_within(const StreamCosts& costs, Rank root, double limit) {
  for (const First first : {First::early, First::wide, First::scarce}) {
    if (auto tree = Growth(costs, root, limit).run(first)) return tree;
  }
  return std::nullopt;
}

/// Every period that a tree can have.
std::vector<double> periods(const StreamCosts& costs) {
  std::vector<double> all;
  for (Rank from = 0; from < costs.size(); ++from) {
    for (Rank to = 0; to < costs.size(); ++to) {
      if (from != to) all.push_back(costs.link(from, to));
    }
    for (Rank children = 1; children < costs.size(); ++children) {
      all.push_back(costs.uplink(from) * children);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

StreamCosts::StreamCosts(const LinkTable& table, std::vector<double> uplinks, double overhead,
                         double bytes)
    : table_(table), uplinks_(std::move(uplinks)), overhead_(overhead), bytes_(bytes) {
  ENSURE(uplinks_.size() == table.size());
}

double period(const Tree& tree, const StreamCosts& costs) {
  double longest = 0;
  for (Rank rank = 0; rank < tree.size(); ++rank) {
    const auto children = static_cast<double>(tree.children[rank].size());
    if (children > 0) longest = std::max(longest, children * costs.uplink(rank));
    for (const Rank child : tree.children[rank]) {
      longest = std::max(longest, costs.link(rank, child));
    }
  }
  return longest;
}

// Prim's algorithm: each rank by the way to it whose slowest link is fastest.
double period_bound(const StreamCosts& costs, Rank root) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> best(costs.size(), infinite);
  std::vector<bool> reached(costs.size(), false);
  best[root] = 0;
  double bound = 0;
  for (Rank step = 0; step < costs.size(); ++step) {
    Rank next = no_rank;
    for (Rank rank = 0; rank < costs.size(); ++rank) {
      if (!reached[rank] && (next == no_rank || best[rank] < best[next])) next = rank;
    }
    reached[next] = true;
    bound = std::max(bound, best[next]);
    for (Rank to = 0; to < costs.size(); ++to) {
      if (to == next) continue;
      const double slowest = std::max(costs.link(next, to), costs.uplink(next));
      best[to] = std::min(best[to], std::max(best[next], slowest));
    }
  }
  return bound;
}

double first_completion(const Tree& tree, const StreamCosts& costs) {
  std::vector<double> arrival(tree.size(), 0);
  for (const Rank rank : top_down(tree)) {
    double before = 0;
    for (const Rank child : tree.children[rank]) {
      arrival[child] =
          arrival[rank] + before + costs.link(rank, child) + costs.latency(rank, child);
      before += costs.uplink(rank);
    }
  }
  return *std::max_element(arrival.begin(), arrival.end());
}

Tree stream_tree(const StreamCosts& costs, Rank root) {
  ENSURE(costs.size() <= stream_ranks_max);
  if (costs.size() == 1) return Tree(1, root);
  const std::vector<double> all = periods(costs);
  // What we find within a limit we nearly always find within a larger one, too.
  std::size_t low = 0, high = all.size() - 1;
  std::optional<Tree> best = tree_within(costs, root, all[high]);
  ENSURE(best);
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (auto tree = tree_within(costs, root, all[middle])) {
      best = std::move(tree);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  auto early = Growth(costs, root, all[high] * (1 + stream_slack)).run(First::early);
  if (early && first_completion(*early, costs) < first_completion(*best, costs)) return *early;
  return *best;
}

}  // namespace piracema::coll
