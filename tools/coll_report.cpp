#include "coll_report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/text.h"
#include "coll/trees/sites.h"
#include "coll/trees/tree.h"

namespace piracema::tools {

namespace {

using namespace coll;
using nlohmann::json;

struct UsedTree {
  double at_s = 0, expected_ms = 0, binomial_ms = 0;
  std::uint64_t bytes = 0;
  Tree tree;
};

struct Report {
  std::string engine;
  Rank ranks = 0;
  LinkTable links{0};
  std::vector<UsedTree> trees;
};

/// Throws what the parser throws, and std::out_of_range, for what is no report.
Report read(const json& from) {
  Report report;
  report.engine = from.at("engine");
  report.ranks = from.at("ranks");
  if (report.ranks < 2 || report.ranks > 1'024) throw std::out_of_range("ranks");
  report.links = LinkTable(report.ranks);
  if (from.contains("latency_ms")) {
    const json& rows = from["latency_ms"];
    for (Rank a = 0; a < report.ranks; ++a) {
      for (Rank b = 0; b < report.ranks; ++b) {
        report.links.at(a, b).latency = rows.at(a).at(b).get<double>() / 1e3;
      }
    }
  }
  for (const json& line : from.at("trees")) {
    UsedTree used{
        line.at("at_s"), line.at("expected_ms"), line.at("binomial_ms"), line.at("bytes"), {}};
    const Rank root = line.at("root");
    const auto parents = line.at("parents").get<std::vector<int>>();
    if (parents.size() != report.ranks || root >= report.ranks) throw std::out_of_range("parents");
    std::vector<std::pair<Rank, Rank>> edges;
    for (Rank rank = 0; rank < report.ranks; ++rank) {
      if (rank == root) continue;
      if (parents[rank] < 0 || static_cast<Rank>(parents[rank]) >= report.ranks) {
        throw std::out_of_range("parents");
      }
      edges.emplace_back(static_cast<Rank>(parents[rank]), rank);
    }
    // A circle would not hang from the root.
    for (Rank rank = 0; rank < report.ranks; ++rank) {
      Rank steps = 0;
      for (Rank at = rank; at != root; at = static_cast<Rank>(parents[at])) {
        if (++steps > report.ranks) throw std::out_of_range("parents");
      }
    }
    used.tree = hang(report.ranks, root, edges);
    report.trees.push_back(std::move(used));
  }
  return report;
}

std::vector<std::uint32_t> sites_of(const Report& report) {
  return find_sites(TableCosts(report.links, 0, 0));
}

void print_sites(const Report& report) {
  const auto sites = sites_of(report);
  const std::uint32_t count = *std::max_element(sites.begin(), sites.end()) + 1;
  std::printf("%u sites, learnt from the links:\n", count);
  for (std::uint32_t site = 0; site < count; ++site) {
    std::string ranks;
    for (Rank rank = 0; rank < report.ranks; ++rank) {
      if (sites[rank] == site) ranks += concat(" ", rank);
    }
    std::printf("  site %u: ranks%s\n", site, ranks.c_str());
  }
  std::printf("\nleast latency between sites, ms:\n     ");
  for (std::uint32_t site = 0; site < count; ++site) std::printf("%9u", site);
  for (std::uint32_t a = 0; a < count; ++a) {
    std::printf("\n%5u", a);
    for (std::uint32_t b = 0; b < count; ++b) {
      double least = -1;
      for (Rank from = 0; from < report.ranks; ++from) {
        for (Rank to = 0; to < report.ranks; ++to) {
          if (from == to || sites[from] != a || sites[to] != b) continue;
          const double latency = report.links.at(from, to).latency;
          least = least < 0 ? latency : std::min(least, latency);
        }
      }
      std::printf("%9.2f", std::max(least, 0.0) * 1e3);
    }
  }
  std::printf("\n");
}

void print_tree(const Tree& tree, const LinkTable& links, Rank rank, const std::string& before) {
  const auto& children = tree.children[rank];
  for (std::size_t i = 0; i < children.size(); ++i) {
    const bool last = i + 1 == children.size();
    std::printf("%s%s %u (%.2f ms)\n", before.c_str(), last ? "`--" : "|--", children[i],
                links.at(rank, children[i]).latency * 1e3);
    print_tree(tree, links, children[i], before + (last ? "    " : "|   "));
  }
}

void print_text(const Report& report) {
  std::printf("engine %s, %u ranks\n", report.engine.c_str(), report.ranks);
  print_sites(report);
  std::printf("\n%zu trees came into use:\n", report.trees.size());
  const std::size_t shown = 20;
  if (report.trees.size() > shown) std::printf("  (the last %zu)\n", shown);
  for (std::size_t i = report.trees.size() - std::min(shown, report.trees.size());
       i < report.trees.size(); ++i) {
    const UsedTree& used = report.trees[i];
    std::printf(
        "  at %8.2f s: root %u, %llu bytes, expected %.1f ms (binomial: %.1f ms, %.1f times)\n",
        used.at_s, used.tree.root, static_cast<unsigned long long>(used.bytes), used.expected_ms,
        used.binomial_ms, used.binomial_ms / std::max(used.expected_ms, 1e-6));
  }
  if (report.trees.empty()) return;
  std::printf("\nthe last one:\n%u\n", report.trees.back().tree.root);
  print_tree(report.trees.back().tree, report.links, report.trees.back().tree.root, "");
}

void print_dot(const Report& report) {
  std::printf("digraph tree {\n  node [shape=circle];\n");
  const auto sites = sites_of(report);
  for (std::uint32_t site = 0; site <= *std::max_element(sites.begin(), sites.end()); ++site) {
    std::printf("  subgraph cluster_%u { label=\"site %u\";", site, site);
    for (Rank rank = 0; rank < report.ranks; ++rank) {
      if (sites[rank] == site) std::printf(" %u;", rank);
    }
    std::printf(" }\n");
  }
  if (!report.trees.empty()) {
    const Tree& tree = report.trees.back().tree;
    for (Rank rank = 0; rank < report.ranks; ++rank) {
      if (rank == tree.root) continue;
      std::printf("  %u -> %u [label=\"%.1f ms\"];\n", tree.parent[rank], rank,
                  report.links.at(tree.parent[rank], rank).latency * 1e3);
    }
  }
  std::printf("}\n");
}

}  // namespace

int coll_report(const std::vector<std::string>& arguments) {
  const bool dot = !arguments.empty() && arguments.front() == "--dot";
  if (arguments.size() != (dot ? 2u : 1u) || arguments.back().starts_with('-')) {
    log(Level::error, "want piracema coll report [--dot] FILE");
    return 2;
  }
  std::ifstream file(arguments.back());
  if (!file) {
    log(Level::error, concat("cannot read the report in ", arguments.back()));
    return 3;
  }
  try {
    const Report report = read(json::parse(file));
    dot ? print_dot(report) : print_text(report);
  } catch (const std::exception& error) {
    log(Level::error, concat(arguments.back(), " is no report: ", error.what()));
    return 3;
  }
  return 0;
}

}  // namespace piracema::tools
