#pragma once

#include <cstdint>
#include <vector>

namespace piracema::coll {

/// A process, by its place in the group that communicates: 0 to size - 1.
using Rank = std::uint32_t;
constexpr Rank no_rank = ~Rank{0};

/// One message of a given size over one link. Seconds.
struct SendCost {
  /// The sender can do nothing else for so long.
  double busy = 0;
  /// From the beginning of the send until the receiver has all of it; at least `busy`.
  double delay = 0;
};

/// What messages of one size cost between any two of `size()` ranks.
class Costs {
 public:
  virtual ~Costs() = default;
  virtual Rank size() const = 0;
  /// `from` and `to` differ.
  virtual SendCost cost(Rank from, Rank to) const = 0;
};

/// A link as it is measured: seconds, and seconds a byte.
struct Link {
  double latency = 0;
  double per_byte = 0;
};

/// Links among a few ranks, all kept in memory.
class LinkTable {
 public:
  explicit LinkTable(Rank size, Link all = {})
      : size_(size), links_(std::size_t{size} * size, all) {}
  Rank size() const { return size_; }
  Link& at(Rank from, Rank to) { return links_[std::size_t{from} * size_ + to]; }
  const Link& at(Rank from, Rank to) const { return links_[std::size_t{from} * size_ + to]; }
  void set_both(Rank a, Rank b, Link link) { at(a, b) = at(b, a) = link; }

 private:
  Rank size_;
  std::vector<Link> links_;
};

/// Messages of `bytes` over the links of a table, which has to outlive it. A sender is busy for
/// `overhead` seconds, and as long as it takes to put the bytes on the link.
class TableCosts : public Costs {
 public:
  TableCosts(const LinkTable& table, double overhead, double bytes)
      : table_(table), overhead_(overhead), bytes_(bytes) {}
  Rank size() const override { return table_.size(); }
  SendCost cost(Rank from, Rank to) const override {
    const Link& link = table_.at(from, to);
    const double busy = overhead_ + bytes_ * link.per_byte;
    return {busy, busy + link.latency};
  }

 private:
  const LinkTable& table_;
  double overhead_, bytes_;
};

}  // namespace piracema::coll
