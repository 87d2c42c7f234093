#pragma once

#include "topology/trees/tree.h"

namespace piracema::coll {

/// The size of a message's segments: large enough that each is worth its overhead, small enough
/// that relays begin early. The same for all that know `bytes`.
std::uint64_t segment_bytes_for(std::uint64_t bytes);

/// Messages in segments, which relays pass on while the rest still arrives. A rank sends all of
/// them to one child before it turns to the next. The delay of an edge is that of its first
/// segment, and may be less than its sender is busy. The table has to outlive this.
class SegmentCosts : public Costs {
 public:
  SegmentCosts(const LinkTable& table, double overhead, double bytes);
  Rank size() const override { return table_.size(); }
  SendCost cost(Rank from, Rank to) const override {
    const Link& link = table_.at(from, to);
    return {segments_ * overhead_ + bytes_ * link.per_byte,
            overhead_ + segment_ * link.per_byte + link.latency};
  }
  double latency(Rank from, Rank to) const { return table_.at(from, to).latency; }
  const LinkTable& table() const { return table_; }
  double overhead() const { return overhead_; }
  double bytes() const { return bytes_; }

 private:
  const LinkTable& table_;
  double overhead_, bytes_, segment_, segments_;
};

/// When the last rank has the last segment; seconds.
double completion_in_segments(const Tree&, const SegmentCosts&);

/// The best that we know for messages in segments: nearer to a chain the larger they are.
Tree segment_tree(const SegmentCosts&, Rank root);

}  // namespace piracema::coll
