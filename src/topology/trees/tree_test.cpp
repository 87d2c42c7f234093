#include "topology/trees/tree.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "topology/trees/classic.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using piracema::coll::testing::ms;

namespace {

Tree random_tree(Random& random, Rank size) {
  Tree tree(size, 0);
  for (Rank rank = 1; rank < size; ++rank) tree.adopt(static_cast<Rank>(random.below(rank)), rank);
  return tree;
}

/// The best of all orders of all children, by trying them.
double best_order(Tree tree, const Costs& costs, Rank from = 0) {
  if (from == tree.size()) return completion(tree, costs);
  auto& children = tree.children[from];
  std::sort(children.begin(), children.end());
  double best = best_order(tree, costs, from + 1);
  while (std::next_permutation(children.begin(), children.end())) {
    best = std::min(best, best_order(tree, costs, from + 1));
  }
  return best;
}

}  // namespace

TEST_CASE("a rank has the message when its parent's sends before its own are over") {
  LinkTable links(4, {10 * ms, 0});
  Tree tree(4, 2);
  tree.adopt(2, 0);
  tree.adopt(2, 1);
  tree.adopt(1, 3);
  const auto at = arrivals(tree, TableCosts(links, 1 * ms, 0));
  CHECK(at[2] == 0);
  CHECK(at[0] == doctest::Approx(11 * ms));
  CHECK(at[1] == doctest::Approx(12 * ms));
  CHECK(at[3] == doctest::Approx(23 * ms));
}

TEST_CASE("bytes keep the sender busy as long as the link takes for them") {
  LinkTable links(3, {10 * ms, 1e-6});
  Tree tree(3, 0);
  tree.adopt(0, 1);
  tree.adopt(0, 2);
  CHECK(completion(tree, TableCosts(links, 0, 5'000)) == doctest::Approx(20 * ms));
}

TEST_CASE("no order of the children completes earlier than the chosen one") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const piracema::coll::testing::Wan wan(piracema::coll::testing::Wan::Kind::flat, 7, 1,
                                           random.unit() * 50 * ms, random.next());
    Tree tree = random_tree(random, 7);
    order_children(tree, wan);
    CHECK(completion(tree, wan) == doctest::Approx(best_order(tree, wan)));
  }
}

TEST_CASE("a tree survives its way through a message, and so does every part of it") {
  Random random(2);
  for (Rank size = 1; size < 40; ++size) {
    const Tree tree = random_tree(random, size);
    const Branches branches = to_branches(tree);
    REQUIRE(check(branches, size).ok());
    CHECK(to_tree(branches) == tree);
    const auto children = children_of(branches);
    REQUIRE(children.size() == tree.children[0].size());
    for (std::size_t i = 0; i < children.size(); ++i) {
      CHECK(children[i].front().rank == tree.children[0][i]);
      CHECK(check(children[i], size).ok());
    }
  }
}

TEST_CASE("branches that are no tree are refused") {
  CHECK_FALSE(check({}, 3).ok());
  for (const Branches& wrong :
       {Branches{{3, 0}}, Branches{{0, 1}, {0, 0}}, Branches{{0, 2}, {1, 0}},
        Branches{{0, 0}, {1, 0}}, Branches{{0, 2}, {1, 2}, {2, 0}}, Branches{{0, ~0u}}}) {
    CHECK_FALSE(check(wrong, 3).ok());
  }
  CHECK(check(Branches{{0, 2}, {1, 1}, {2, 0}}, 3).ok());
}

TEST_CASE("a binomial tree has the root send to the farthest first") {
  const Tree tree = binomial_tree(24, 12);
  CHECK(tree.children[12] == std::vector<Rank>{4, 20, 16, 14, 13});
  // The paper, section 5: rank 0 is reached by way of rank 20.
  CHECK(tree.parent[0] == 20);
  CHECK(to_branches(tree).front().below == 23);
}

TEST_CASE("in a tree of two levels a message enters each site once") {
  const auto site_of = piracema::coll::testing::paper_sites();
  const Tree tree = two_level_tree(site_of, 13);
  int entries = 0;
  for (Rank rank = 0; rank < 24; ++rank) {
    if (rank == 13) continue;
    const Rank parent = tree.parent[rank];
    if (site_of[parent] == site_of[rank]) continue;
    CHECK(parent == 13);
    entries += 1;
  }
  CHECK(entries == 5);
  CHECK(check(to_branches(tree), 24).ok());
  CHECK(to_branches(tree).size() == 24);
}

TEST_CASE("of another tree that is needed which leads to those who are reached otherwise") {
  // 0 to 1 to 2, and 0 to 3 to 4; then 4 hangs on 2.
  const Branches former{{0, 4}, {1, 1}, {2, 0}, {3, 1}, {4, 0}};
  CHECK(reached_otherwise(former, former).empty());
  const Branches other{{0, 4}, {1, 2}, {2, 1}, {4, 0}, {3, 0}};
  CHECK(reached_otherwise(former, other) == Branches{{0, 3}, {1, 2}, {2, 1}, {4, 0}});
  // Who is behind somebody that is reached otherwise is, too.
  const Branches turned{{0, 4}, {2, 1}, {1, 0}, {3, 1}, {4, 0}};
  CHECK(reached_otherwise(former, turned) == Branches{{0, 2}, {2, 1}, {1, 0}});
  Random random(9);
  for (int i = 0; i < 200; ++i) {
    const Tree before = random_tree(random, 8), now = random_tree(random, 8);
    const Branches needed = reached_otherwise(to_branches(before), to_branches(now));
    if (!needed.empty()) CHECK(check(needed, 8).ok());
    const auto way = [](const Tree& tree, Rank to) {
      std::vector<Rank> ranks;
      for (; to != no_rank; to = tree.parent[to]) ranks.push_back(to);
      return ranks;
    };
    std::vector<bool> wanted(8, false);
    for (Rank rank = 0; rank < 8; ++rank) {
      if (way(before, rank) == way(now, rank)) continue;
      for (const Rank on_the_way : way(now, rank)) wanted[on_the_way] = true;
    }
    std::vector<bool> found(8, false);
    for (const Branch& branch : needed) found[branch.rank] = true;
    CHECK(found == wanted);
  }
}

TEST_CASE("a minimum spanning tree is no heavier than any other tree") {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const piracema::coll::testing::Wan wan(piracema::coll::testing::Wan::Kind::flat, 12, 1, 0,
                                           random.next());
    double weight = 0;
    for (const auto& [a, b] : minimum_spanning_edges(wan)) weight += wan.cost(a, b).delay;
    for (int other = 0; other < 20; ++other) {
      const Tree tree = random_tree(random, 12);
      double heavier = 0;
      for (Rank rank = 1; rank < 12; ++rank) heavier += wan.cost(tree.parent[rank], rank).delay;
      CHECK(weight <= heavier);
    }
  }
}
