#include "topology/trees/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "topology/trees/classic.h"

namespace piracema::coll {

namespace {

/// Distances of shortest paths.
std::vector<double> distances(const Costs& costs, Rank root) {
  const Tree tree = shortest_path_tree(costs, root);
  std::vector<double> at(costs.size(), 0);
  for (const Rank rank : top_down(tree)) {
    if (rank != root) at[rank] = at[tree.parent[rank]] + costs.cost(tree.parent[rank], rank).delay;
  }
  return at;
}

// The relaxation: any sender reaches rank v in busy + enters[v], where enters[v] is the least
// latency of all links to v, the easiest first, and busy the least of all links. The k-th rank to
// get the message gets it no earlier than reached[k], for three reasons: the k-th shortest
// distance; the one before it; and k sends, of which the j-th ends at ends[j] at best. Their
// receivers are no easier to enter than the k easiest, and whoever pairs ends with receivers delays
// the last one least if the hardest to enter is sent to first.
std::vector<double> reached_at_earliest(const std::vector<double>& enters,
                                        const std::vector<double>& distance, double busy) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  std::vector<double> reached{0}, ends;
  free.push(0);
  for (std::size_t k = 0; k < enters.size(); ++k) {
    // Who is reached later than this is no sender for it.
    ends.push_back(free.top() + busy);
    free.pop();
    free.push(ends.back());
    double last = std::max(distance[k], reached.back());
    for (std::size_t j = 0; j <= k; ++j) last = std::max(last, ends[j] + enters[k - j]);
    reached.push_back(last);
    free.push(last);
  }
  return reached;
}

/// Whether enough sends have ended early enough for everybody to be reached by `end`: those who are
/// hardest to enter want their send to be over so much earlier.
bool enough_sends(const std::vector<double>& reached, const std::vector<double>& enters,
                  double busy, double end) {
  for (std::size_t k = enters.size(); k-- > 0;) {
    const double by = end - enters[k];
    if (by < 0) return false;
    const double wanted = static_cast<double>(enters.size() - k);
    double sends = 0;
    for (const double since : reached) {
      if (since >= by) break;
      sends += std::floor((by - since) / busy + 1e-9);
      if (sends >= wanted) break;
    }
    if (sends < wanted) return false;
  }
  return true;
}

}  // namespace

double lower_bound(const Costs& costs, Rank root) {
  const Rank size = costs.size();
  if (size < 2) return 0;
  std::vector<double> distance = distances(costs, root);
  distance.erase(distance.begin() + root);
  std::sort(distance.begin(), distance.end());

  double busy = std::numeric_limits<double>::infinity();
  std::vector<double> enters;
  for (Rank to = 0; to < size; ++to) {
    double least = std::numeric_limits<double>::infinity();
    for (Rank from = 0; from < size; ++from) {
      if (from == to) continue;
      const SendCost cost = costs.cost(from, to);
      busy = std::min(busy, cost.busy);
      least = std::min(least, cost.delay - cost.busy);
    }
    if (to != root) enters.push_back(least);
  }
  double bound = distance.back();
  if (busy <= 0) return bound;
  std::sort(enters.begin(), enters.end());
  const auto reached = reached_at_earliest(enters, distance, busy);
  bound = std::max(bound, reached.back());
  // The least end for which the sends suffice, to a thousandth.
  double low = bound, high = bound;
  while (!enough_sends(reached, enters, busy, high)) high *= 1.5;
  while (high - low > bound * 1e-3) {
    const double middle = (low + high) / 2;
    (enough_sends(reached, enters, busy, middle) ? high : low) = middle;
  }
  return std::max(bound, low);
}

}  // namespace piracema::coll
