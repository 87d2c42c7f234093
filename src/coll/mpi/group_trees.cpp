// The trees of a group, as its links are now.
#include <algorithm>
#include <bit>
#include <cstdio>

#include "base/text.h"
#include "coll/mpi/group.h"
#include "coll/mpi/probe/mst_runner.h"
#include "topology/measure/guess.h"
#include "topology/trees/classic.h"
#include "topology/trees/sites.h"

namespace piracema::coll::mpi {

void Group::on_transfer(Rank from, double megabyte) {
  if (world_.probes()) world_.probes()->on_transfer(world_ranks_[from], megabyte);
}

LinkTable Group::links() const {
  LinkTable part(size());
  if (!world_.probes()) return part;
  const LinkTable all = world_.probes()->links();
  for (Rank a = 0; a < size(); ++a) {
    for (Rank b = 0; b < size(); ++b) part.at(a, b) = all.at(world_ranks_[a], world_ranks_[b]);
  }
  return part;
}

bool Group::all_measured() const {
  std::size_t measured = 0;
  if (world_.probes()) world_.probes()->links(&measured);
  return measured == std::size_t{world_.size()} * (world_.size() - 1) / 2;
}

// As MagPIe is told them: once and for all, when all links are known.
std::vector<std::uint32_t> Group::sites(const LinkTable& known) {
  if (world_.settings().engine != Engine::two_level || !sites_.empty()) return sites_;
  auto found = find_sites(TableCosts(known, 0, 0));
  if (all_measured()) sites_ = found;
  return found;
}

const Branches& Group::tree(std::uint64_t bytes) {
  if (way_ == Way::theirs) {
    // On emulated links the MPI library's own collective is one along a binomial tree.
    if (binomial_.empty()) binomial_ = to_branches(binomial_tree(size(), me_));
    return binomial_;
  }
  Kept& kept = trees_[static_cast<int>(std::bit_width(bytes))];
  const std::uint64_t version = world_.probes() ? world_.probes()->version() : 0;
  // A tree that takes long to compute is not computed all the time: 2 % at most.
  const bool old = kept.version != version && now() - kept.made_at >= 50 * kept.took;
  if (!kept.branches.empty() && !old) return kept.branches;
  const Time began = now();
  LinkTable known = links();
  guess_bandwidth(known);
  const Engine engine = world_.settings().engine;
  const auto found = sites(known);
  if (engine == Engine::two_level && sites_.empty()) {
    kept.branches = to_branches(two_level_tree(found, me_));
    return kept.branches;
  }
  if (engine == Engine::mst && !all_measured()) {
    kept.branches = to_branches(binomial_tree(size(), me_));
    return kept.branches;
  }
  const Tree tree = tree_for(engine, known, me_, static_cast<double>(bytes), sites_);
  auto branches = to_branches(tree);
  if (branches != kept.branches) note(tree, known, bytes);
  kept = {version, now(), now() - began, std::move(branches)};
  return kept.branches;
}

void Group::note(const Tree& tree, const LinkTable& links, std::uint64_t bytes) {
  FiguresWriter* const figures = world_.figures();
  if ((world_.settings().report.empty() && figures == nullptr) || size() != world_.size()) return;
  const TableCosts costs(links, send_overhead, static_cast<double>(bytes));
  const double took = completion(tree, costs);
  const double binomial = completion(binomial_tree(size(), me_), costs);
  // Links and hosts are shown by ranks of the world; here all of them may be in another order.
  if (figures != nullptr && std::is_sorted(world_ranks_.begin(), world_ranks_.end())) {
    figures->on_tree(tree, bytes, took, binomial, now());
  }
  if (world_.settings().report.empty()) return;
  char times[96];
  std::snprintf(times, sizeof times, "\"expected_ms\": %.3f, \"binomial_ms\": %.3f", took * 1e3,
                binomial * 1e3);
  std::string line =
      concat(" {\"at_s\": ", std::chrono::duration<double>(now() - world_.begun()).count(),
             ", \"root\": ", me_, ", \"bytes\": ", bytes, ", ", times, ", \"parents\": [");
  for (Rank rank = 0; rank < size(); ++rank) {
    const Rank parent = tree.parent[rank];
    line += concat(rank == 0 ? "" : ", ", parent == no_rank ? "-1" : std::to_string(parent));
  }
  world_.note_tree(line + "]},\n");
}

const Tree& Group::up(Rank root, bool large) {
  const auto [found, is_new] = up_.try_emplace({root, large, way_});
  if (!is_new) return found->second;
  if (way_ == Way::theirs) return found->second = binomial_tree(size(), root);
  const Tree planned = to_tree(large ? plan_.up_large : plan_.up);
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (rank != planned.root) edges.emplace_back(planned.parent[rank], rank);
  }
  return found->second = hang(size(), root, edges);
}

}  // namespace piracema::coll::mpi
