#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"
#include "topology/trees/costs.h"

/// Networks for tests and benchmarks: the paper's, and random ones.
namespace piracema::coll::testing {

constexpr double ms = 1e-3;

/// Paper 001, Table 1: 24 ranks in 6 sites, read as one-way latencies; 1 ms within a site.
inline LinkTable paper_links() {
  constexpr double between[6][6] = {
      {0, 485.4, 698.9, 14.9, 332.8, 61.4},   {485.4, 0, 364.1, 583.8, 13.5, 490.5},
      {698.9, 364.1, 0, 701.2, 371.7, 722.9}, {14.9, 583.8, 701.2, 0, 331.0, 35.1},
      {332.8, 13.5, 371.7, 331.0, 0, 355.9},  {61.4, 490.5, 722.9, 35.1, 355.9, 0}};
  LinkTable links(24);
  for (Rank a = 0; a < 24; ++a) {
    for (Rank b = 0; b < a; ++b) {
      links.set_both(a, b, {(a / 4 == b / 4 ? 1 : between[a / 4][b / 4]) * ms, 0});
    }
  }
  return links;
}

/// Section 5: what the links are told to be before the first of the 16 broadcasts.
inline LinkTable paper_links_before_changes() {
  LinkTable links = paper_links();
  links.set_both(0, 2, {120'001 * ms, 0});
  links.set_both(12, 16, {30'000 * ms, 0});
  return links;
}
/// Its four changes.
inline LinkTable paper_links_after_changes() {
  LinkTable links = paper_links_before_changes();
  links.set_both(4, 6, {9'999 * ms, 0});
  links.set_both(12, 20, {45 * ms, 0});
  links.set_both(0, 2, {6'000 * ms, 0});
  links.set_both(12, 16, {21 * ms, 0});
  return links;
}
inline std::vector<std::uint32_t> paper_sites() {
  std::vector<std::uint32_t> site_of(24);
  for (Rank rank = 0; rank < 24; ++rank) site_of[rank] = rank / 4;
  return site_of;
}

/// A random network whose costs are computed when they are asked for, so that it may be large.
class Wan : public Costs {
 public:
  enum class Kind {
    geographic,  ///< Sites at places of a square; latency is distance, 1 ms within a site.
    lognormal,   ///< Latencies between sites are drawn at random.
    flat,        ///< Latencies of all pairs are drawn at random.
  };
  Wan(Kind kind, Rank size, Rank sites, double busy, std::uint64_t seed)
      : kind_(kind), size_(size), busy_(busy), seed_(seed) {
    Random random(seed);
    for (Rank i = 0; i < sites; ++i) places_.emplace_back(random.unit(), random.unit());
    for (Rank i = 0; i < size; ++i) {
      site_of_.push_back(i < sites ? i : static_cast<std::uint32_t>(random.below(sites)));
    }
  }
  Rank size() const override { return size_; }
  SendCost cost(Rank from, Rank to) const override { return {busy_, busy_ + latency(from, to)}; }
  const std::vector<std::uint32_t>& site_of() const { return site_of_; }

 private:
  double latency(Rank a, Rank b) const {
    if (kind_ == Kind::flat) return drawn(a, b);
    const std::uint32_t s = site_of_[a], t = site_of_[b];
    if (s == t) return 1 * ms;
    if (kind_ == Kind::lognormal) return drawn(s, t);
    return 5 * ms + 300 * ms *
                        std::hypot(places_[s].first - places_[t].first,
                                   places_[s].second - places_[t].second);
  }
  /// Lognormal with a median of 50 ms, the same in both directions.
  double drawn(Rank a, Rank b) const {
    const auto [low, high] = std::minmax(a, b);
    Random random(seed_ ^ (std::uint64_t{low} << 32 | high));
    random.next();
    double sum = -6;  // Twelve uniform numbers: nearly normal.
    for (int i = 0; i < 12; ++i) sum += random.unit();
    return 50 * ms * std::exp(sum);
  }

  Kind kind_;
  Rank size_;
  double busy_;
  std::uint64_t seed_;
  std::vector<std::pair<double, double>> places_;
  std::vector<std::uint32_t> site_of_;
};

}  // namespace piracema::coll::testing
