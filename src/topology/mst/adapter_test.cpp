#include "topology/mst/adapter.h"

#include <doctest/doctest.h>

#include <set>

#include "topology/message/courier.h"
#include "topology/mst/testing.h"

using namespace piracema;
using namespace piracema::coll;
using namespace piracema::coll::mst;
using namespace piracema::coll::mst::testing;
using std::chrono::milliseconds;

namespace {

constexpr Time a_while = milliseconds(1);
Time any_round_trip(Rank) { return milliseconds(20); }

struct Flying {
  Rank from, to;
  std::string bytes;
};

/// Adapters that write to each other by couriers, over a network that loses one packet in `losses`,
/// and brings some twice, and all in any order.
struct Net {
  Net(std::uint64_t seed, Graph first, std::uint64_t losses)
      : random(seed), graph(std::move(first)), one_lost_in(losses) {
    for (Rank rank = 0; rank < graph.size; ++rank) adapters.emplace_back(rank, 0);
    couriers.resize(graph.size);
  }
  void send(Rank from, const Adapter::Letters& letters) {
    for (const auto& [to, letter] : letters) couriers[from].send(to, encode(letter));
  }
  void begin(Rank rank) {
    if (adapters[rank].may_begin()) send(rank, adapters[rank].begin(graph.around(rank)));
  }
  void arrive(const Flying& packet) {
    for (const auto& bytes : couriers[packet.to].on_packet(packet.from, packet.bytes)) {
      const auto letter = decode_letter(bytes);
      REQUIRE(letter);
      send(packet.to, adapters[packet.to].on(packet.from, *letter));
    }
  }
  /// One thing after the other, until every rank is through with this round.
  void run_to(std::uint32_t round) {
    const auto over = [&](const Adapter& one) { return one.round() && *one.round() >= round; };
    for (int step = 0; !std::all_of(adapters.begin(), adapters.end(), over); ++step) {
      REQUIRE(step < 2'000'000);
      const auto rank = static_cast<Rank>(random.below(graph.size));
      time += a_while;
      begin(rank);
      for (auto& [to, bytes] : couriers[rank].due(time, any_round_trip)) {
        if (one_lost_in > 0 && random.below(one_lost_in) == 0) continue;
        air.push_back({rank, to, bytes});
        if (one_lost_in > 0 && random.chance(0.1)) air.push_back(air.back());
      }
      if (air.empty()) continue;
      std::swap(air[random.below(air.size())], air.back());
      const Flying packet = air.back();
      air.pop_back();
      arrive(packet);
    }
  }
  std::set<Edge> tree(std::uint32_t round) const {
    std::set<Edge> edges;
    for (Rank rank = 0; rank < graph.size; ++rank) {
      for (const Rank to : adapters[rank].neighbours(round)) edges.insert(std::minmax(rank, to));
    }
    return edges;
  }

  Random random;
  Graph graph;
  std::uint64_t one_lost_in;
  Time time{};
  std::vector<Adapter> adapters;
  std::vector<Courier> couriers;
  std::vector<Flying> air;
};

}  // namespace

TEST_CASE(
    "trees follow the costs round after round although packets are lost, doubled and mixed up") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Net net(seed, random_graph(random, static_cast<Rank>(2 + random.below(9)), 1'000'000),
            seed % 2 == 0 ? 5 : 0);
    std::vector<std::set<Edge>> wanted;
    for (std::uint32_t round = 0; round < 4; ++round) {
      // Somebody wants it, and all others join.
      net.adapters[random.below(net.graph.size)].want();
      wanted.push_back(kruskal(net.graph));
      net.run_to(round);
      for (auto& [edge, cost] : net.graph.cost) {
        if (random.chance(0.3)) cost = static_cast<double>(random.below(1'000'000));
      }
    }
    // Those of before are still there, for broadcasts that are on their way.
    for (std::uint32_t round = 0; round < 4; ++round) CHECK(net.tree(round) == wanted[round]);
  }
}

TEST_CASE("a round begins when it is wanted, and there is no tree before its end") {
  Random random(3);
  Net net(3, random_graph(random, 5, 1'000), 0);
  for (const Adapter& adapter : net.adapters) {
    CHECK_FALSE(adapter.may_begin());
    CHECK_FALSE(adapter.round());
    CHECK_FALSE(adapter.knows(0));
  }
  net.adapters[2].want();
  net.run_to(0);
  CHECK(net.adapters[4].knows(0));
  CHECK_FALSE(net.adapters[4].knows(1));
  CHECK_FALSE(net.adapters[4].may_begin());
  CHECK_FALSE(net.adapters[4].is_of_use(net.graph.around(4)));
}

TEST_CASE("a round is of use where a link of the tree gets worse, or another one better") {
  Graph triangle{.size = 3, .cost = {{{0, 1}, 10}, {{1, 2}, 20}, {{0, 2}, 30}}};
  Net net(6, triangle, 0);
  net.adapters[0].want();
  net.run_to(0);
  const auto of_use = [&](double to_1, double to_2) {
    return net.adapters[0].is_of_use({{1, to_1}, {2, to_2}});
  };
  CHECK_FALSE(of_use(10, 30));
  CHECK(of_use(15, 30));
  CHECK_FALSE(of_use(5, 30));
  CHECK(of_use(10, 25));
  CHECK_FALSE(of_use(10, 9'000));
}

TEST_CASE("trees that nobody asks for are forgotten, and equal ones are kept once") {
  Random random(4);
  Net net(4, random_graph(random, 6, 1'000'000), 0);
  const auto round = [&](std::uint32_t number) {
    net.adapters[0].want();
    net.run_to(number);
  };
  round(0);
  round(1);
  CHECK(net.adapters[3].kept() == 1);
  for (auto& [edge, cost] : net.graph.cost) cost = static_cast<double>(random.below(1'000'000));
  round(2);
  const auto tree = net.tree(2);
  REQUIRE(tree != net.tree(1));
  for (Adapter& adapter : net.adapters) {
    adapter.forget_before(1);
    CHECK(adapter.knows(1));
    adapter.forget_before(2);
    CHECK(adapter.kept() == 1);
  }
  CHECK(net.tree(2) == tree);
}

TEST_CASE("letters are decoded from any bytes") {
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random.below(2 * sizeof(Letter)), ' ');
    for (char& byte : bytes) byte = static_cast<char>(random.below(3));
    (void)decode_letter(bytes);
  }
  std::string odd(sizeof(Letter), '\xff');
  CHECK_FALSE(decode_letter(odd));
}
