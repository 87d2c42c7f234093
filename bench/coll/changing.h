#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "topology/trees/testing.h"

namespace piracema::bench {

/// A wide-area network that changes four times: sites at places of a square or with latencies drawn
/// at random, in which as many links as there are ranks get up to a hundred times as slow, or as
/// fast, each time.
struct Changing {
  /// `size` 0: 12 to 48 ranks, drawn.
  explicit Changing(std::uint64_t seed, coll::Rank size = 0) : random(seed), links(0) {
    using coll::testing::Wan;
    if (size == 0) size = static_cast<coll::Rank>(12 + random.below(37));
    const Wan wan(random.chance(0.5) ? Wan::Kind::geographic : Wan::Kind::lognormal, size,
                  static_cast<coll::Rank>(3 + random.below(6)), 0, random.next());
    sites = wan.site_of();
    links = coll::LinkTable(size);
    for (coll::Rank a = 0; a < size; ++a) {
      for (coll::Rank b = 0; b < a; ++b) links.set_both(a, b, {wan.cost(a, b).delay, 0});
    }
    root = static_cast<coll::Rank>(random.below(size));
  }
  static constexpr int changes = 4;
  void change() {
    const coll::Rank size = links.size();
    for (coll::Rank i = 0; i < size; ++i) {
      const auto a = static_cast<coll::Rank>(random.below(size));
      const auto b = static_cast<coll::Rank>(random.below(size));
      if (a == b) continue;
      const double factor = std::pow(100, random.unit());
      const double latency = links.at(a, b).latency;
      links.set_both(a, b, {random.chance(0.5) ? latency * factor : latency / factor, 0});
    }
  }

  Random random;
  coll::LinkTable links;
  std::vector<std::uint32_t> sites;
  coll::Rank root = 0;
};

}  // namespace piracema::bench
