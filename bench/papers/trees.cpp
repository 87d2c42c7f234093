// The trees of paper 001, Figs. 1 to 3, and ours, on the links of its Table 1 and from its root,
// rank 12: as one JSON object. bench/papers/trees.py draws them.
//
//     paper_trees
//
// The minimum spanning tree is what the distributed protocol finds, node by node, as in the paper;
// exit code 1 if it is another one than the central algorithm's. Times are those of the model for
// one small message: a sender is busy for 0.05 ms, a link takes its latency.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "topology/mst/testing.h"
#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/lower_bound.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using nlohmann::json;
using piracema::coll::testing::ms;

namespace {

constexpr Rank root = 12;
/// As in bench/coll/broadcast.cpp.
constexpr double busy = 0.05 * ms;

mst::testing::Graph graph_of(const LinkTable& links) {
  mst::testing::Graph graph{.size = links.size(), .cost = {}};
  for (Rank high = 0; high < links.size(); ++high) {
    for (Rank low = 0; low < high; ++low) graph.cost[{low, high}] = links.at(low, high).latency;
  }
  return graph;
}

/// What a node for each rank finds with its messages, which arrive in an order drawn by `seed`;
/// nullopt if the ends of an edge disagree.
std::optional<std::set<mst::testing::Edge>> distributed_edges(const LinkTable& links,
                                                              std::uint64_t seed) {
  Random random(seed);
  mst::testing::World world(links.size());
  world.round(random, graph_of(links));
  return world.tree();
}

json told(const Tree& tree, const Costs& costs) {
  json out;
  std::vector<double> at = arrivals(tree, costs);
  for (double& time : at) time /= ms;
  out["children"] = tree.children;
  out["arrivals_ms"] = at;
  out["completion_ms"] = completion(tree, costs) / ms;
  return out;
}

}  // namespace

int main() {
  const LinkTable links = testing::paper_links();
  const TableCosts costs(links, busy, 0);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    if (distributed_edges(links, seed) == mst::testing::kruskal(graph_of(links))) continue;
    std::fprintf(stderr,
                 "paper_trees: want the edges of Kruskal's tree, found others with seed %u\n",
                 static_cast<unsigned>(seed));
    return 1;
  }
  const auto edges = *distributed_edges(links, 1);
  Tree spanning = hang(links.size(), root, {edges.begin(), edges.end()});
  order_children(spanning, costs);

  json out;
  out["root"] = root;
  out["site_of"] = testing::paper_sites();
  for (Rank a = 0; a < links.size(); ++a) {
    for (Rank b = 0; b < links.size(); ++b) {
      out["latency_ms"][a][b] = a == b ? 0 : links.at(a, b).latency / ms;
    }
  }
  out["bound_ms"] = lower_bound(costs, root) / ms;
  out["trees"]["binomial"] = told(binomial_tree(links.size(), root), costs);
  out["trees"]["two-level"] = told(two_level_tree(testing::paper_sites(), root), costs);
  out["trees"]["spanning"] = told(spanning, costs);
  out["trees"]["ours"] = told(fast_tree(costs, root), costs);
  std::printf("%s\n", out.dump().c_str());
  return 0;
}
