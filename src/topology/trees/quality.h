#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/lower_bound.h"
#include "topology/trees/testing.h"

/// For tests: how good trees are.
namespace piracema::coll::testing {

/// How many times the bound a tree takes, over some networks.
struct Ratios {
  void add(double ratio) { all.push_back(ratio); }
  double median() {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  double most() const { return *std::max_element(all.begin(), all.end()); }
  std::vector<double> all;
};

struct Quality {
  Ratios fast, mst, two_level, binomial;
};

/// On so many networks of this kind; printed.
inline Quality measure(Wan::Kind kind, Rank size, Rank sites, double busy, int instances) {
  Quality quality;
  for (int i = 1; i <= instances; ++i) {
    const Wan wan(kind, size, sites, busy, static_cast<std::uint64_t>(i));
    const double bound = lower_bound(wan, 0);
    const auto of = [&](const Tree& tree) {
      REQUIRE(to_branches(tree).size() == size);
      const double ratio = completion(tree, wan) / bound;
      REQUIRE(ratio > 1 - 1e-9);
      return ratio;
    };
    quality.fast.add(of(fast_tree(wan, 0)));
    quality.mst.add(of(minimum_spanning_tree(wan, 0)));
    quality.two_level.add(of(two_level_tree(wan.site_of(), 0)));
    quality.binomial.add(of(binomial_tree(size, 0)));
  }
  std::printf(
      "n %5u, busy %4.2f ms: fast %.3f (most %.3f)  mst %.2f  two-level %.2f  binomial %.2f\n",
      size, busy / ms, quality.fast.median(), quality.fast.most(), quality.mst.median(),
      quality.two_level.median(), quality.binomial.median());
  return quality;
}

}  // namespace piracema::coll::testing
