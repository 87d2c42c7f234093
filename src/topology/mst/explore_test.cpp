// Every order in which things can happen, for a few nodes: no order leads anywhere else than to the
// minimum spanning tree, with every node idle and nothing left over.
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "topology/mst/testing.h"

using namespace piracema;
using namespace piracema::coll;
using namespace piracema::coll::mst;
using namespace piracema::coll::mst::testing;

namespace {

/// All worlds in which the round can end; `seen` counts those on the way.
std::set<World> explore(World start, const Graph& graph, std::size_t& seen) {
  start.begin_round();
  start.searching = start.others = 0;
  std::set<World> known{start}, ended;
  std::vector<World> open{start};
  while (!open.empty()) {
    const World world = std::move(open.back());
    open.pop_back();
    if (world.choices() == 0) ended.insert(world);
    for (std::size_t choice = 0; choice < world.choices(); ++choice) {
      World next = world;
      next.happen(choice, graph);
      next.searching = next.others = 0;
      if (known.insert(next).second) open.push_back(std::move(next));
    }
  }
  seen += known.size();
  return ended;
}

Graph complete(Rank size, std::vector<double> costs) {
  Graph graph{.size = size};
  std::size_t next = 0;
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = a + 1; b < size; ++b) graph.cost[{a, b}] = costs[next++];
  }
  return graph;
}

void check_ends(const std::set<World>& ends, const Graph& graph) {
  REQUIRE_FALSE(ends.empty());
  for (const World& end : ends) {
    REQUIRE(end.all_idle());
    REQUIRE(end.tree() == kruskal(graph));
  }
}

}  // namespace

TEST_CASE("the first tree of four nodes or fewer, in every order") {
  const std::vector<Graph> all{
      complete(2, {1}),
      complete(3, {1, 2, 3}),
      complete(3, {1, 1, 1}),
      {.size = 4, .cost = {{{0, 1}, 1}, {{1, 2}, 2}, {{2, 3}, 3}}},
      {.size = 4, .cost = {{{0, 1}, 1}, {{1, 2}, 2}, {{2, 3}, 1}, {{0, 3}, 2}}},
      complete(4, {1, 2, 3, 4, 5, 6}),
      complete(4, {1, 5, 6, 4, 2, 3}),
      complete(4, {1, 1, 1, 1, 1, 1}),
  };
  std::size_t seen = 0;
  for (const Graph& graph : all) check_ends(explore(World(graph.size), graph, seen), graph);
  MESSAGE(seen << " states");
}

TEST_CASE("two changes at once among four nodes, in every order") {
  // One tree for each graph, then every pair of edges gets worse or better.
  std::size_t seen = 0, pairs = 0;
  for (const Graph& before :
       {complete(4, {10, 20, 30, 40, 50, 60}), complete(4, {10, 40, 60, 20, 50, 30})}) {
    Random random(1);
    World built(4);
    built.round(random, before);
    for (auto first = before.cost.begin(); first != before.cost.end(); ++first) {
      for (auto second = std::next(first); second != before.cost.end(); ++second) {
        for (const auto& [a, b] : {std::pair{1.0, 1.0}, {1.0, 70.0}, {70.0, 1.0}, {70.0, 75.0}}) {
          Graph after = before;
          after.cost[first->first] = a;
          after.cost[second->first] = b;
          check_ends(explore(built, after, seen), after);
          pairs += 1;
        }
      }
    }
  }
  MESSAGE(pairs << " pairs of changes, " << seen << " states");
}
