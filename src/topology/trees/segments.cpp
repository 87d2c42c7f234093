#include "topology/trees/segments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"

namespace piracema::coll {

namespace {
constexpr std::uint64_t segment_bytes_least = 65'536;
constexpr std::uint64_t segments_most = 64;
}  // namespace

std::uint64_t segment_bytes_for(std::uint64_t bytes) {
  const std::uint64_t share = (bytes + segments_most - 1) / segments_most;
  return std::max(segment_bytes_least, (share + 4'095) / 4'096 * 4'096);
}

SegmentCosts::SegmentCosts(const LinkTable& table, double overhead, double bytes)
    : table_(table),
      overhead_(overhead),
      bytes_(bytes),
      segment_(std::min(bytes,
                        static_cast<double>(segment_bytes_for(static_cast<std::uint64_t>(bytes))))),
      segments_(segment_ > 0 ? std::ceil(bytes / segment_) : 1) {}

namespace {

/// When a rank has its first segment and its last one, and when it is free to send to another
/// child.
struct Times {
  double first = 0, last = 0, free = 0;
};

/// A rank sends to one more child: the child's times, the rank free later.
Times send_to(Times& from, const SegmentCosts& costs, Rank rank, Rank child) {
  const SendCost cost = costs.cost(rank, child);
  const double latency = costs.latency(rank, child);
  const double first = from.free + cost.delay;
  // The last segment leaves when all before it have, and when it is there.
  from.free = std::max(from.free + cost.busy, from.last + cost.delay - latency);
  return {first, from.free + latency, first};
}

std::vector<Times> times_of(const Tree& tree, const SegmentCosts& costs) {
  std::vector<Times> times(tree.size());
  for (const Rank rank : top_down(tree)) {
    for (const Rank child : tree.children[rank]) {
      times[child] = send_to(times[rank], costs, rank, child);
    }
  }
  return times;
}

Rank last_of(const std::vector<Times>& times) {
  const auto later = [](const Times& a, const Times& b) { return a.last < b.last; };
  return static_cast<Rank>(std::max_element(times.begin(), times.end(), later) - times.begin());
}

/// The edge first whose receiver has everything earliest. O(n²) for most networks.
Tree grow_in_segments(const SegmentCosts& costs, Rank root) {
  const Rank size = costs.size();
  Tree tree(size, root);
  std::vector<Times> times(size);
  std::vector<Rank> by(size, no_rank);
  std::vector<double> at(size, std::numeric_limits<double>::infinity());
  std::vector<bool> inside(size, false);
  const auto offer = [&](Rank from, Rank to) {
    Times sender = times[from];
    const double last = send_to(sender, costs, from, to).last;
    if (last >= at[to]) return;
    at[to] = last;
    by[to] = from;
  };
  const auto find_anew = [&](Rank to) {
    at[to] = std::numeric_limits<double>::infinity();
    for (Rank from = 0; from < size; ++from) {
      if (inside[from]) offer(from, to);
    }
  };
  inside[root] = true;
  for (Rank to = 0; to < size; ++to) {
    if (to != root) offer(root, to);
  }
  for (Rank count = 1; count < size; ++count) {
    Rank next = no_rank;
    for (Rank to = 0; to < size; ++to) {
      if (!inside[to] && (next == no_rank || at[to] < at[next])) next = to;
    }
    const Rank from = by[next];
    tree.adopt(from, next);
    times[next] = send_to(times[from], costs, from, next);
    inside[next] = true;
    for (Rank to = 0; to < size; ++to) {
      if (inside[to]) continue;
      if (by[to] == from) {
        find_anew(to);  // That one has less time now.
      } else {
        offer(next, to);
      }
    }
  }
  return tree;
}

/// Gives some rank on the way to the last one another parent, if that ends earlier.
bool improve(Tree& tree, const SegmentCosts& costs) {
  const auto times = times_of(tree, costs);
  const Rank last = last_of(times);
  for (Rank moved = last; moved != tree.root; moved = tree.parent[moved]) {
    for (Rank to = 0; to < tree.size(); ++to) {
      if (tree.is_below(to, moved)) continue;
      if (times[to].first + costs.cost(to, moved).delay >= times[last].last) continue;
      Tree tried = tree;
      std::erase(tried.children[tried.parent[moved]], moved);
      tried.adopt(to, moved);
      // As the last child, or as the first one.
      for (int place = 0; place < 2; ++place) {
        if (times_of(tried, costs)[last_of(times_of(tried, costs))].last <
            times[last].last * (1 - 1e-9)) {
          tree = std::move(tried);
          return true;
        }
        auto& children = tried.children[to];
        std::rotate(children.begin(), children.end() - 1, children.end());
      }
    }
  }
  return false;
}

/// Improving costs n² a step, at least.
constexpr Rank improved_in_segments_max = 64;

}  // namespace

double completion_in_segments(const Tree& tree, const SegmentCosts& costs) {
  const auto times = times_of(tree, costs);
  return times[last_of(times)].last;
}

Tree segment_tree(const SegmentCosts& costs, Rank root) {
  const TableCosts whole(costs.table(), costs.overhead(), costs.bytes());
  const TableCosts small(costs.table(), costs.overhead(), 0);
  Tree best = grow_in_segments(costs, root);
  double least = completion_in_segments(best, costs);
  for (Tree& tree : std::vector<Tree>{fast_tree(whole, root), fast_tree(small, root),
                                      minimum_spanning_tree(whole, root)}) {
    const double took = completion_in_segments(tree, costs);
    if (took >= least) continue;
    least = took;
    best = std::move(tree);
  }
  if (costs.size() > improved_in_segments_max) return best;
  for (int step = 0; step < 64 && improve(best, costs); ++step) {
  }
  return best;
}

}  // namespace piracema::coll
