#pragma once

#include <vector>

#include "topology/trees/tree.h"

namespace piracema::coll {

/// Messages of one size, one after the other, which every rank passes on to its children at once.
/// The table has to outlive this.
class StreamCosts {
 public:
  /// `uplinks`, seconds a byte: what a rank sends to others shares that, whatever its single links
  /// could take; 0 where nothing is shared. As many as there are ranks.
  StreamCosts(const LinkTable& table, std::vector<double> uplinks, double overhead, double bytes);

  Rank size() const { return table_.size(); }
  /// A message over one link; seconds.
  double link(Rank from, Rank to) const {
    return overhead_ + bytes_ * table_.at(from, to).per_byte;
  }
  /// A message into the uplink of a rank.
  double uplink(Rank from) const { return overhead_ + bytes_ * uplinks_[from]; }
  double latency(Rank from, Rank to) const { return table_.at(from, to).latency; }

 private:
  const LinkTable& table_;
  const std::vector<double> uplinks_;
  const double overhead_, bytes_;
};

/// Seconds from one message to the next that a tree can carry: the slowest of its links, and of its
/// uplinks with all that goes through them.
double period(const Tree&, const StreamCosts&);
/// No tree has a shorter one.
double period_bound(const StreamCosts&, Rank root);

/// When the last rank has the first message; seconds.
double first_completion(const Tree&, const StreamCosts&);

/// A tree for a stream: with the shortest period that we find, or `stream_slack` longer if the first
/// message then is there earlier. To find the shortest of all is as hard as to find a path through
/// all ranks; this takes O(n³ log n) time, so there are `stream_ranks_max` ranks at most.
Tree stream_tree(const StreamCosts&, Rank root);
constexpr double stream_slack = 0.05;
constexpr Rank stream_ranks_max = 128;

}  // namespace piracema::coll
