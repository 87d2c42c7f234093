#include "tools/coll/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/log.h"
#include "base/text.h"
#include "tools/coll/report_file.h"
#include "topology/trees/sites.h"

namespace piracema::tools {

namespace {

using namespace coll;

std::vector<std::uint32_t> sites_of(const CollReport& report) {
  return find_sites(TableCosts(report.links, 0, 0));
}

void print_sites(const CollReport& report) {
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

void print_forecasts(const CollReport& report) {
  if (report.forecasts.empty()) return;
  std::printf("\nlinks of rank 0, as they are expected to be:\n");
  for (const Forecast& one : report.forecasts) {
    std::printf("  to %u: %.2f ms (usually off by %.2f ms; by %s)\n", one.to, one.forecast_ms,
                one.error_ms, one.by.c_str());
  }
}

/// Whatever was tried both ways says what was gained; else the trees below say what is expected.
void print_calls(const CollReport& report) {
  if (report.calls.empty()) return;
  std::printf("\ncalls, at the slowest rank:\n");
  double gained = 0;
  for (const Calls& one : report.calls) {
    const auto a_call = [](double ms, std::uint64_t calls) {
      return ms / static_cast<double>(std::max<std::uint64_t>(calls, 1));
    };
    const double ours = a_call(one.ours_ms, one.ours), native = a_call(one.native_ms, one.native);
    std::string size = concat("up to ", one.bytes_max, " bytes");
    if (one.bytes_max == ~std::uint64_t{0}) size = "more bytes";
    std::printf("  %s, %s: %llu ours of %.3f ms, %llu native of %.3f ms", one.call.c_str(),
                size.c_str(), static_cast<unsigned long long>(one.ours), ours,
                static_cast<unsigned long long>(one.native), native);
    if (one.ours > 0 && one.native > 0) {
      const double gain = (native - ours) * static_cast<double>(one.ours);
      std::printf(": %.1f ms gained", gain);
      gained += gain;
    }
    std::printf("\n");
  }
  if (gained < 0) {
    std::printf("warning: trees took %.1f ms longer than the MPI library's own collectives\n",
                -gained);
  }
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

void print_mst(const CollReport& report) {
  if (report.engine != "mst") return;
  std::printf("\nthe distributed tree: %llu rounds, %llu letters\n",
              static_cast<unsigned long long>(report.rounds),
              static_cast<unsigned long long>(report.letters));
  for (const MstBroadcasts& one : report.mst_broadcasts) {
    std::printf(
        "  root %u: %llu broadcasts before the first round (%llu binomial, %llu along a tree "
        "of the root's own)",
        one.root, static_cast<unsigned long long>(one.binomial + one.own_view),
        static_cast<unsigned long long>(one.binomial),
        static_cast<unsigned long long>(one.own_view));
    for (const auto& [round, count] : one.rounds) {
      std::printf(", %llu along round %u's", static_cast<unsigned long long>(count), round);
    }
    if (one.fallen_back > 0) {
      std::printf("; warning: %llu fell back after it",
                  static_cast<unsigned long long>(one.fallen_back));
    }
    std::printf("\n");
  }
  if (!report.mst_rounds.empty()) {
    const auto takes = [](const MstRoundTime& one) { return one.over_s - one.began_s; };
    const auto slowest =
        std::max_element(report.mst_rounds.begin(), report.mst_rounds.end(),
                         [&](const auto& a, const auto& b) { return takes(a) < takes(b); });
    const MstRoundTime& newest = report.mst_rounds.back();
    std::printf(
        "  the newest round began %.2f s after MPI_Init and took %.2f s; the slowest %.2f s\n",
        newest.began_s, takes(newest), takes(*slowest));
  }
  if (report.rounds == 0) {
    std::printf(
        "warning: no round was over: no broadcast went along the distributed tree (is UDP "
        "shut out?)\n");
  }
  if (!report.mst) return;
  std::printf("the tree of round %u:\n0\n", report.mst->first);
  print_tree(report.mst->second, report.links, 0, "");
}

void print_text(const CollReport& report) {
  std::printf("engine %s, %u ranks\n", report.engine.c_str(), report.ranks);
  if (report.calls_of_rank_0 > 0) {
    std::printf("intercepted %llu of %llu collective calls of rank 0, %llu along trees\n",
                static_cast<unsigned long long>(report.intercepted),
                static_cast<unsigned long long>(report.calls_of_rank_0),
                static_cast<unsigned long long>(report.ours));
  }
  if (!report.left_alone.empty()) {
    std::printf("%s: left alone\n", report.left_alone.c_str());
    return;
  }
  print_sites(report);
  print_forecasts(report);
  print_calls(report);
  print_mst(report);
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

void print_dot(const CollReport& report) {
  std::printf("digraph tree {\n  node [shape=circle];\n");
  if (!report.left_alone.empty()) {
    std::printf("  label=\"%s: left alone\";\n}\n", report.left_alone.c_str());
    return;
  }
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
    log(Level::error, with_errno(concat("cannot read the report in ", arguments.back())));
    return 3;
  }
  try {
    const CollReport report = read_coll_report(file);
    dot ? print_dot(report) : print_text(report);
  } catch (const std::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 1: …"
    std::string_view why = error.what();
    if (why.starts_with('[')) why.remove_prefix(std::min(why.size(), why.find("] ") + 2));
    log(Level::error,
        concat(arguments.back(), " is no report: want what --report has written, found ", why));
    return 3;
  }
  return 0;
}

}  // namespace piracema::tools
