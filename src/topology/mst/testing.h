#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "topology/mst/node.h"

/// Nodes with queues between them, and the tree that they should find.
namespace piracema::coll::mst::testing {

using Edge = std::pair<Rank, Rank>;

/// An undirected graph; edges have their lower end first.
struct Graph {
  Rank size = 0;
  std::map<Edge, double> cost;

  std::vector<std::pair<Rank, double>> around(Rank rank) const {
    std::vector<std::pair<Rank, double>> out;
    for (const auto& [edge, cost_of] : cost) {
      if (edge.first == rank) out.emplace_back(edge.second, cost_of);
      if (edge.second == rank) out.emplace_back(edge.first, cost_of);
    }
    return out;
  }
};

/// Kruskal's algorithm.
inline std::set<Edge> kruskal(const Graph& graph) {
  std::vector<Weight> weights;
  for (const auto& [edge, cost] : graph.cost)
    weights.push_back(Weight::of(cost, edge.first, edge.second));
  std::sort(weights.begin(), weights.end());
  std::vector<Rank> above(graph.size);
  std::iota(above.begin(), above.end(), Rank{0});
  const auto top = [&](Rank rank) {
    while (above[rank] != rank) rank = above[rank];
    return rank;
  };
  std::set<Edge> tree;
  for (const Weight& weight : weights) {
    if (top(weight.low) == top(weight.high)) continue;
    above[top(weight.low)] = top(weight.high);
    tree.emplace(weight.low, weight.high);
  }
  return tree;
}

/// Connected: a random tree, and some more edges. Few different costs make ties.
inline Graph random_graph(Random& random, Rank size, std::uint64_t costs) {
  Graph graph{.size = size};
  const auto draw = [&] { return static_cast<double>(random.below(costs)); };
  for (Rank rank = 1; rank < size; ++rank) {
    graph.cost[{static_cast<Rank>(random.below(rank)), rank}] = draw();
  }
  const double density = random.unit();
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = a + 1; b < size; ++b) {
      if (random.chance(density)) graph.cost.emplace(Edge{a, b}, draw());
    }
  }
  return graph;
}

/// Nodes and what is on its way between them. What happens next is for the test to choose: a node
/// starts the round, or the oldest message of some link arrives.
struct World {
  explicit World(Rank size) {
    for (Rank rank = 0; rank < size; ++rank) nodes.emplace_back(rank);
  }

  void begin_round() {
    for (Rank rank = 0; rank < nodes.size(); ++rank) waiting.insert(rank);
  }
  std::size_t choices() const { return waiting.size() + links.size(); }
  /// Lets the event with this number happen, from 0 to choices() - 1.
  void happen(std::size_t choice, const Graph& graph) {
    if (choice < waiting.size()) {
      const Rank rank = *std::next(waiting.begin(), static_cast<std::ptrdiff_t>(choice));
      waiting.erase(rank);
      take(rank, nodes[rank].start(graph.around(rank)));
      return;
    }
    const auto link =
        std::next(links.begin(), static_cast<std::ptrdiff_t>(choice - waiting.size()));
    const auto [from, to] = link->first;
    const Message message = link->second.front();
    link->second.pop_front();
    if (link->second.empty()) links.erase(link);
    take(to, nodes[to].on(from, message));
  }
  /// A whole round, in an order drawn at random.
  void round(Random& random, const Graph& graph) {
    begin_round();
    while (choices() > 0) happen(random.below(choices()), graph);
  }
  bool all_idle() const {
    return std::all_of(nodes.begin(), nodes.end(),
                       [](const Node& node) { return node.idle() && node.nothing_deferred(); });
  }
  /// The edges that their two ends both have in the tree; nullopt if some ends disagree.
  std::optional<std::set<Edge>> tree() const {
    std::set<Edge> edges;
    std::size_t ends = 0;
    for (const Node& node : nodes) {
      for (const Rank to : node.tree_neighbours()) {
        edges.insert(std::minmax(node.me(), to));
        ends += 1;
      }
    }
    if (ends != 2 * edges.size()) return std::nullopt;
    return edges;
  }
  auto operator<=>(const World&) const = default;

  std::vector<Node> nodes;
  std::set<Rank> waiting;
  std::map<std::pair<Rank, Rank>, std::deque<Message>> links;
  /// Of all rounds: GHS's own, and all others.
  std::size_t searching = 0, others = 0;

 private:
  void take(Rank from, const Sends& sends) {
    for (const auto& [to, message] : sends) {
      links[{from, to}].push_back(message);
      (message.type <= MessageType::change_root ? searching : others) += 1;
    }
  }
};

}  // namespace piracema::coll::mst::testing
