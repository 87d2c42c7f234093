// Random graphs, random orders of everything that happens, random changes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "topology/message/in_order.h"
#include "topology/mst/agreement.h"
#include "topology/mst/testing.h"

using namespace piracema;
using namespace piracema::coll;
using namespace piracema::coll::mst;
using namespace piracema::coll::mst::testing;

namespace {

/// PIRACEMA_MST_GRAPHS=10000 makes more of them than usual.
std::uint64_t graphs(std::uint64_t usual) {
  const char* wanted = std::getenv("PIRACEMA_MST_GRAPHS");
  return wanted ? std::stoull(wanted) : usual;
}

double ghs_bound(const Graph& graph) {
  const double n = graph.size;
  return 5 * n * std::log2(n) + 2 * static_cast<double>(graph.cost.size());
}

void change(Random& random, Graph& graph, std::uint64_t costs) {
  const double part = random.unit() * random.unit();
  for (auto& [edge, cost] : graph.cost) {
    if (random.chance(part)) cost = static_cast<double>(random.below(costs));
  }
}

}  // namespace

TEST_CASE("the tree is Kruskal's, at first and after every round of changes") {
  std::size_t rounds = 0;
  for (std::uint64_t seed = 1; seed <= graphs(1'500); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto size = static_cast<Rank>(2 + random.below(seed % 10 == 0 ? 39 : 14));
    const std::uint64_t costs = random.chance(0.5) ? 5 : 1'000'000;
    Graph graph = random_graph(random, size, costs);
    World world(size);
    world.round(random, graph);
    REQUIRE(world.all_idle());
    REQUIRE(world.tree() == kruskal(graph));
    REQUIRE(static_cast<double>(world.searching) <= ghs_bound(graph));
    REQUIRE(world.others <= 3 * (size - 1));
    for (std::uint64_t changes = random.below(8); changes > 0; --changes) {
      change(random, graph, costs);
      world.round(random, graph);
      REQUIRE(world.all_idle());
      REQUIRE(world.tree() == kruskal(graph));
      rounds += 1;
    }
  }
  MESSAGE(rounds << " rounds of changes");
}

TEST_CASE("a round without changes costs two questions and answers and nothing else") {
  Random random(7);
  const Graph graph = random_graph(random, 20, 1'000);
  World world(20);
  world.round(random, graph);
  const std::size_t searching = world.searching, others = world.others;
  world.round(random, graph);
  CHECK(world.searching == searching);
  // not_fail, its answer, gosleep_fail, not_rec, its answer, gosleep_rec.
  CHECK(world.others - others == 6 * 19);
}

TEST_CASE("each recovery costs a few messages for each node") {
  Random random(8);
  Graph graph = random_graph(random, 30, 1'000'000);
  World world(30);
  world.round(random, graph);
  const auto tree = kruskal(graph);
  std::size_t recovered = 0;
  for (auto& [edge, cost] : graph.cost) {
    if (!tree.contains(edge) && recovered < 5) {
      cost = 0;
      recovered += 1;
    }
  }
  REQUIRE(recovered == 5);
  const std::size_t searching = world.searching, others = world.others;
  world.round(random, graph);
  CHECK(world.tree() == kruskal(graph));
  CHECK(world.searching == searching);
  CHECK(world.others - others <= (6 + 6 * recovered) * 29);
}

TEST_CASE("a network that mixes messages up is put in order, and the tree is right") {
  struct Numbered {
    Rank from, to;
    std::uint64_t number;
    Message message;
  };
  for (std::uint64_t seed = 1; seed <= graphs(300) / 5; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto size = static_cast<Rank>(2 + random.below(12));
    const Graph graph = random_graph(random, size, 10);
    std::vector<Node> nodes;
    std::vector<InOrder<Message>> orders(size);
    std::vector<Numbered> air;
    const auto take = [&](Rank from, const Sends& sends) {
      for (const auto& [to, message] : sends) {
        air.push_back({from, to, orders[from].number_for(to), message});
        if (random.chance(0.1)) air.push_back(air.back());  // And comes twice.
      }
    };
    for (Rank rank = 0; rank < size; ++rank) nodes.emplace_back(rank);
    for (Rank rank = 0; rank < size; ++rank) take(rank, nodes[rank].start(graph.around(rank)));
    while (!air.empty()) {
      std::swap(air[random.below(air.size())], air.back());
      const Numbered next = air.back();
      air.pop_back();
      for (const Message& message : orders[next.to].on(next.from, next.number, next.message)) {
        take(next.to, nodes[next.to].on(next.from, message));
      }
    }
    World world(size);
    world.nodes = nodes;
    REQUIRE(world.all_idle());
    REQUIRE(world.tree() == kruskal(graph));
  }
}

TEST_CASE("a single node is a tree") {
  Random random(1);
  World world(1);
  const Graph graph{.size = 1};
  for (int round = 0; round < 3; ++round) {
    world.round(random, graph);
    CHECK(world.all_idle());
  }
  CHECK(world.searching + world.others == 0);
}

TEST_CASE("a near link that trembles is none the worse where far links are what takes the time") {
  // Nodes 0 and 1 are near to each other; each has a link to node 2, too.
  for (const double far : {1.0, 700.0}) {
    Agreement a(0.1), b(0.1);
    const auto near = [&](double cost) {
      a.measured({{1, cost}, {2, far}});
      b.measured({{0, cost}, {2, far}});
      a.on_offer(1, cost, b.heaviest());
      b.on_offer(0, cost, a.heaviest());
      a.on_offer(2, far, 2 * far);
      b.on_offer(2, far, 2 * far);
      const double agreed = a.agreed()->front().second;
      CHECK(b.agreed()->front().second == agreed);
      return agreed;
    };
    CHECK(near(1) == 1);
    CHECK(near(1.5) == (far > 1 ? 1 : 1.5));
    CHECK(near(20) == 20);
  }
}

TEST_CASE("the ends of a link agree on what it costs, and small changes are none") {
  Agreement a(0.1), b(0.1);
  const auto round = [&](double at_a, double at_b) {
    a.measured({{1, at_a}});
    b.measured({{0, at_b}});
    CHECK_FALSE(a.agreed());
    a.on_offer(1, at_b, b.heaviest());
    b.on_offer(0, at_a, a.heaviest());
    const auto agreed = a.agreed();
    REQUIRE(agreed);
    CHECK(agreed == std::vector{std::pair<Rank, double>{1, agreed->front().second}});
    CHECK(b.agreed()->front().second == agreed->front().second);
    return agreed->front().second;
  };
  CHECK(round(10, 12) == 11);
  CHECK(round(11, 12.9) == 11);
  CHECK(round(12, 13) == 12.5);
  CHECK(round(1, 1) == 1);
}
