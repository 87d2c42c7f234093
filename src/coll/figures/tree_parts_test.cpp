#include "coll/figures/tree_parts.h"

#include <doctest/doctest.h>

#include <string>

#include "base/random.h"

using namespace piracema;
using namespace piracema::coll;

TEST_CASE("the tree is known when all have told of the same round") {
  TreeParts parts(4);
  const std::vector<Rank> own{2};
  CHECK_FALSE(parts.tree(3, own));
  parts.on_part(2, TreeParts::encode(3, {0, 1, 3}));
  parts.on_part(1, TreeParts::encode(3, {2}));
  CHECK_FALSE(parts.tree(3, own));
  parts.on_part(3, TreeParts::encode(3, {2}));
  const auto tree = parts.tree(3, own);
  REQUIRE(tree);
  CHECK(tree->parent == std::vector<Rank>{no_rank, 2, 0, 2});
  // The next round is over at one of them.
  parts.on_part(1, TreeParts::encode(4, {0}));
  CHECK_FALSE(parts.tree(3, own));
  CHECK_FALSE(parts.tree(4, {1}));
}

TEST_CASE("what was told late does not take the place of what is newer") {
  TreeParts parts(2);
  parts.on_part(1, TreeParts::encode(5, {0}));
  parts.on_part(1, TreeParts::encode(4, {0}));
  CHECK(parts.tree(5, {1}));
  CHECK_FALSE(parts.tree(4, {1}));
}

TEST_CASE("what makes no sense changes nothing, and what is no tree is not shown") {
  TreeParts parts(3);
  parts.on_part(1, TreeParts::encode(1, {0, 2}));
  parts.on_part(2, TreeParts::encode(1, {1}));
  REQUIRE(parts.tree(1, {1}));
  parts.on_part(7, TreeParts::encode(1, {0}));
  parts.on_part(1, TreeParts::encode(1, {3}));
  parts.on_part(1, TreeParts::encode(1, {1}));
  parts.on_part(1, TreeParts::encode(1, {0, 2, 0}));
  parts.on_part(1, std::string("12345"));
  parts.on_part(1, std::string("123"));
  CHECK(parts.tree(1, {1}));
  // A circle, a part of a tree, and neighbours of rank 0 that there are not.
  parts.on_part(2, TreeParts::encode(1, {1, 0}));
  CHECK_FALSE(parts.tree(1, {1}));
  parts.on_part(1, TreeParts::encode(1, {0}));
  parts.on_part(2, TreeParts::encode(1, {}));
  CHECK_FALSE(parts.tree(1, {1}));
  CHECK_FALSE(parts.tree(1, {9}));
  CHECK_FALSE(parts.tree(1, {1, 1}));
}

TEST_CASE("whatever ranks tell, there is a tree of all or none") {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Random random(seed);
    const auto size = static_cast<Rank>(1 + random.below(6));
    TreeParts parts(size);
    const auto some = [&] {
      std::vector<Rank> ranks(random.below(4));
      for (Rank& rank : ranks) rank = static_cast<Rank>(random.below(size + 1));
      return ranks;
    };
    for (Rank rank = 0; rank < size; ++rank) {
      std::string bytes = TreeParts::encode(static_cast<std::uint32_t>(random.below(2)), some());
      if (random.chance(0.1)) bytes.resize(random.below(bytes.size() + 1));
      parts.on_part(rank, bytes);
    }
    const auto tree = parts.tree(0, some());
    if (tree) CHECK(top_down(*tree).size() == size);
  }
}
