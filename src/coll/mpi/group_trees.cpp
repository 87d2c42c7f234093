#include "coll/mpi/group_trees.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "base/text.h"
#include "coll/mpi/world.h"
#include "coll/plan/choice.h"
#include "topology/measure/guess.h"
#include "topology/trees/classic.h"
#include "topology/trees/sites.h"

namespace piracema::coll::mpi {

void GroupTrees::on_transfer(Rank from, double megabyte) {
  if (world_.probes()) world_.probes()->on_transfer(world_ranks_[from], megabyte);
}

LinkTable GroupTrees::links() const {
  LinkTable part(size());
  if (!world_.probes()) return part;
  const LinkTable all = world_.probes()->links();
  for (Rank a = 0; a < size(); ++a) {
    for (Rank b = 0; b < size(); ++b) part.at(a, b) = all.at(world_ranks_[a], world_ranks_[b]);
  }
  return part;
}

LinkTable GroupTrees::guessed_links() const {
  LinkTable known = links();
  guess_bandwidth(known);
  return known;
}

bool GroupTrees::all_measured() const {
  std::size_t measured = 0;
  if (world_.probes()) world_.probes()->links(&measured);
  return measured == std::size_t{world_.size()} * (world_.size() - 1) / 2;
}

// As MagPIe is told them: once and for all, when all links are known.
std::vector<std::uint32_t> GroupTrees::sites(const LinkTable& known) {
  if (world_.settings().engine != Engine::two_level || !sites_.empty()) return sites_;
  auto found = find_sites(TableCosts(known, 0, 0));
  if (all_measured()) sites_ = found;
  return found;
}

const Branches& GroupTrees::binomial() {
  if (binomial_.empty()) binomial_ = to_branches(binomial_tree(size(), me_));
  return binomial_;
}

std::uint64_t GroupTrees::version() const {
  return world_.probes() ? world_.probes()->version() : 0;
}

const Branches& GroupTrees::from_here(std::uint64_t bytes) {
  Kept& kept = trees_[static_cast<int>(std::bit_width(bytes))];
  const std::uint64_t links_version = version();
  // A tree that takes long to compute is not computed all the time: 2 % at most.
  const bool old = kept.version != links_version && now() - kept.made_at >= 50 * kept.took;
  if (!kept.branches.empty() && !old) return kept.branches;
  const Time began = now();
  const LinkTable known = guessed_links();
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
  kept = {links_version, now(), now() - began, std::move(branches)};
  return kept.branches;
}

void GroupTrees::note(const Tree& tree, const LinkTable& links, std::uint64_t bytes) {
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

}  // namespace piracema::coll::mpi
