#include "topology/trees/stream_tree.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using piracema::coll::testing::ms;

namespace {

constexpr double megabyte = 1e6;

std::vector<double> none(Rank size) { return std::vector<double>(size, 0); }

/// The shortest period of all trees: each rank but the root has any parent.
double shortest_period(const StreamCosts& costs) {
  double best = 1e9;
  std::vector<Rank> parent(costs.size(), 0);
  while (true) {
    bool is_tree = true;
    for (Rank rank = 1; rank < costs.size() && is_tree; ++rank) {
      Rank at = rank;
      for (Rank steps = 0; at != 0 && steps <= costs.size(); ++steps) at = parent[at];
      is_tree = at == 0;
    }
    if (is_tree) {
      Tree tree(costs.size(), 0);
      for (Rank rank = 1; rank < costs.size(); ++rank) tree.adopt(parent[rank], rank);
      best = std::min(best, period(tree, costs));
    }
    Rank digit = 1;
    while (digit < costs.size() && ++parent[digit] == costs.size()) parent[digit++] = 0;
    if (digit == costs.size()) return best;
  }
}

}  // namespace

TEST_CASE("where links are alike and share nothing, all hang on the root") {
  const LinkTable links(6, {10 * ms, 1e-7});
  const StreamCosts costs(links, none(6), 0, megabyte);
  const Tree tree = stream_tree(costs, 0);
  CHECK(tree.children[0].size() == 5);
  CHECK(period(tree, costs) == doctest::Approx(0.1));
}

TEST_CASE("where a rank's links share its uplink, each passes it on to one") {
  const LinkTable links(6, {10 * ms, 1e-7});
  const StreamCosts costs(links, std::vector<double>(6, 1e-7), 0, megabyte);
  const Tree tree = stream_tree(costs, 2);
  CHECK(period(tree, costs) == doctest::Approx(0.1));
  for (const auto& children : tree.children) CHECK(children.size() <= 1);
}

TEST_CASE("a slow link is gone around") {
  LinkTable links(4, {10 * ms, 1e-7});
  links.set_both(0, 3, {10 * ms, 1e-6});
  const StreamCosts costs(links, none(4), 0, megabyte);
  const Tree tree = stream_tree(costs, 0);
  CHECK(tree.parent[3] != 0);
  CHECK(period(tree, costs) == doctest::Approx(period_bound(costs, 0)));
}

TEST_CASE("of trees that are as fast, one is taken whose first message is there early") {
  // All links are as fast; those of rank 1 have a long way.
  LinkTable links(5, {1 * ms, 1e-7});
  for (const Rank rank : {0, 2, 3, 4}) links.set_both(1, rank, {300 * ms, 1e-7});
  const StreamCosts costs(links, none(5), 0, megabyte);
  const Tree tree = stream_tree(costs, 0);
  CHECK(tree.children[1].empty());
}

TEST_CASE("a rank alone has nobody to send to") {
  const LinkTable links(1);
  const StreamCosts costs(links, none(1), 0, megabyte);
  CHECK(stream_tree(costs, 0).size() == 1);
}

TEST_CASE("trees span all ranks, keep the bound, and are near the best there is") {
  double worst = 1;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const auto size = static_cast<Rank>(2 + random.below(5));
    LinkTable links(size);
    std::vector<double> uplinks(size);
    for (Rank a = 0; a < size; ++a) {
      for (Rank b = 0; b < size; ++b) {
        links.at(a, b) = {100 * random.unit() * ms, 1e-8 / (0.02 + random.unit())};
      }
      uplinks[a] = random.chance(0.5) ? 0 : 1e-8 / (0.5 + 4 * random.unit());
    }
    const StreamCosts costs(links, uplinks, 10e-6, megabyte);
    const Tree tree = stream_tree(costs, 0);
    CHECK(top_down(tree).size() == size);
    CHECK(period(tree, costs) >= period_bound(costs, 0) * (1 - 1e-9));
    const double best = shortest_period(costs);
    CHECK(best >= period_bound(costs, 0) * (1 - 1e-9));
    worst = std::max(worst, period(tree, costs) / best);
  }
  MESSAGE("worst of 200, by the best there is: ", worst);
  CHECK(worst <= 1.1);
}
