#include "coll/mpi/group.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "base/text.h"
#include "coll/mpi/mst_runner.h"
#include "coll/trees/classic.h"
#include "coll/trees/sites.h"

namespace piracema::coll::mpi {

namespace {

/// Stands for "never ours" as an attribute.
char never;

/// The ranks of the world that a communicator has; empty if it has others.
std::vector<Rank> world_ranks(const World& world, MPI_Comm comm, int size) {
  MPI_Group group;
  must(PMPI_Comm_group(comm, &group));
  std::vector<int> mine(static_cast<std::size_t>(size)), theirs(mine.size());
  for (int i = 0; i < size; ++i) mine[static_cast<std::size_t>(i)] = i;
  must(PMPI_Group_translate_ranks(group, size, mine.data(), world.group(), theirs.data()));
  must(PMPI_Group_free(&group));
  std::vector<Rank> ranks;
  for (const int rank : theirs) {
    if (rank == MPI_UNDEFINED) return {};
    ranks.push_back(static_cast<Rank>(rank));
  }
  return ranks;
}

/// The same ranks, but none of the attributes: copying those may run code of the program.
MPI_Comm copy(MPI_Comm comm) {
  MPI_Group group;
  MPI_Comm own;
  must(PMPI_Comm_group(comm, &group));
  must(PMPI_Comm_create(comm, group, &own));
  must(PMPI_Group_free(&group));
  must(PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
  return own;
}

}  // namespace

Group* Group::of(World& world, MPI_Comm comm) {
  void* kept = nullptr;
  int found = 0;
  must(PMPI_Comm_get_attr(comm, world.keyval(), &kept, &found));
  if (found != 0) return kept == &never ? nullptr : static_cast<Group*>(kept);
  int inter = 0, size = 0;
  must(PMPI_Comm_test_inter(comm, &inter));
  must(PMPI_Comm_size(comm, &size));
  std::vector<Rank> ranks;
  if (inter == 0 && size > 1) ranks = world_ranks(world, comm, size);
  if (ranks.empty()) {
    must(PMPI_Comm_set_attr(comm, world.keyval(), &never));
    return nullptr;
  }
  auto* group = new Group(world, comm, copy(comm), std::move(ranks));
  must(PMPI_Comm_set_attr(comm, world.keyval(), group));
  world.add(group);
  return group;
}

int Group::destroy(Group* group) {
  if (static_cast<void*>(group) == &never) return MPI_SUCCESS;
  World* world = World::get();
  if (world == nullptr) return MPI_SUCCESS;  // MPI_Finalize has seen to it.
  try {
    group->drain();
    world->remove(group);
    MPI_Comm own = group->exchange_.comm();
    must(PMPI_Comm_free(&own));
  } catch (const MpiError& error) {
    return error.code;
  }
  delete group;
  return MPI_SUCCESS;
}

Group::Group(World& world, MPI_Comm user, MPI_Comm own, std::vector<Rank> world_ranks)
    : world_(world),
      user_(user),
      world_ranks_(std::move(world_ranks)),
      exchange_(own, world.emulator(), world_ranks_),
      me_(exchange_.me()),
      plan_(first_plan(world.settings().engine, size())) {}

Group::~Group() = default;

void Group::begin_operation() {
  const auto window = window_beginning_with(operation_);
  operation_ += 1;
  if (!window || world_.settings().engine == Engine::mst) return;
  window_ = *window;
  if (window_ > 0) {
    plan_ = me_ == 0 ? next_plan_ : receive_plan(window_);
    up_.clear();
  }
  if (me_ == 0) send_next_plan(window_ + 1);
}

void Group::send_next_plan(std::uint32_t window) {
  // Those of the window before have long arrived.
  plans_under_way_.wait();
  LinkTable known = links();
  guess_bandwidth(known);
  if (sites_.empty()) sites_.assign(size(), 0);
  next_plan_ = make_plan(world_.settings().engine, known, sites_);
  const auto bytes = encode(next_plan_);
  for (Rank to = 1; to < size(); ++to) {
    exchange_.send_bytes(to, tag(window, Kind::plan), bytes, plans_under_way_);
  }
}

Plan Group::receive_plan(std::uint32_t window) {
  const auto arrived = exchange_.receive_bytes(0, tag(window, Kind::plan));
  auto plan = decode_plan(arrived.bytes, size());
  if (!plan) throw MpiError{MPI_ERR_OTHER};
  return *std::move(plan);
}

void Group::drain() {
  if (operation_ == 0 || world_.settings().engine == Engine::mst) return;
  if (me_ == 0) {
    plans_under_way_.wait();
  } else {
    receive_plan(window_ + 1);
  }
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

const Branches& Group::tree(std::uint64_t bytes) {
  Kept& kept = trees_[static_cast<int>(std::bit_width(bytes))];
  const std::uint64_t version = world_.probes() ? world_.probes()->version() : 0;
  // A tree that takes long to compute is not computed all the time: 2 % at most.
  const bool old = kept.version != version && now() - kept.made_at >= 50 * kept.took;
  if (!kept.branches.empty() && !old) return kept.branches;
  const Time began = now();
  LinkTable known = links();
  guess_bandwidth(known);
  if (world_.settings().engine == Engine::two_level && sites_.empty()) {
    std::size_t measured = 0;
    if (world_.probes()) world_.probes()->links(&measured);
    const std::size_t all = std::size_t{world_.size()} * (world_.size() - 1) / 2;
    const TableCosts costs(known, 0, 0);
    const auto sites = find_sites(costs);
    // As MagPIe is told them: once and for all, when all links are known.
    if (measured == all) sites_ = sites;
    kept.branches = to_branches(two_level_tree(sites, me_));
    if (measured < all) return kept.branches;
  }
  const Tree tree =
      tree_for(world_.settings().engine, known, me_, static_cast<double>(bytes), sites_);
  auto branches = to_branches(tree);
  if (branches != kept.branches) note(tree, known, bytes);
  kept = {version, now(), now() - began, std::move(branches)};
  return kept.branches;
}

void Group::note(const Tree& tree, const LinkTable& links, std::uint64_t bytes) {
  if (world_.settings().report.empty() || size() != world_.size()) return;
  const TableCosts costs(links, send_overhead, static_cast<double>(bytes));
  const double took = completion(tree, costs);
  const double binomial = completion(binomial_tree(size(), me_), costs);
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

const Tree& Group::up(Rank root) {
  const auto found = up_.find(root);
  if (found != up_.end()) return found->second;
  const Tree planned = to_tree(plan_.up);
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (rank != planned.root) edges.emplace_back(planned.parent[rank], rank);
  }
  return up_.emplace(root, hang(size(), root, edges)).first->second;
}

MstRunner& Group::mst() {
  if (!mst_) mst_ = std::make_unique<MstRunner>(*this);
  return *mst_;
}

}  // namespace piracema::coll::mpi
