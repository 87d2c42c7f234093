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

/// Tags have room for 4096 operations: rank 0 does not run further ahead of anybody, and nobody
/// runs ahead of rank 0 by more than two windows.
constexpr std::int32_t operations_ahead_max = 2'048;
constexpr std::uint32_t nonblocking_in_a_row_max = 512;
static_assert(operations_ahead_max + 2 * window_operations_max + nonblocking_in_a_row_max < 4'096);
constexpr std::chrono::seconds drain_takes_most{5};

double in_s(Time time) { return std::chrono::duration<double>(time).count(); }

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

Group* Group::find(World& world, MPI_Comm comm) {
  void* kept = nullptr;
  int found = 0;
  must(PMPI_Comm_get_attr(comm, world.keyval(), &kept, &found));
  return found == 0 || kept == &never ? nullptr : static_cast<Group*>(kept);
}

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
    if (world->progress()) world->progress()->wait_for(*group);
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
      plan_(first_plan(world.settings().engine, size())) {
  if (me_ != 0) return;
  planner_.emplace(world.settings().engine, size());
  heard_operation_.assign(size(), 0);
}

Group::~Group() = default;

Way Group::begin_operation(Call call, std::uint64_t bytes) {
  nonblocking_in_a_row_ = 0;
  operation_ += 1;
  if (world_.settings().engine == Engine::mst) return way_ = Way::ours;
  if (!began_ || in_window_ == plan_.length) begin_window();
  in_window_ += 1;
  call_class_ = class_of(call, bytes);
  return way_ = plan_.way(call_class_, calls_[call_class_]++);
}

void Group::end_operation(Time took) {
  if (world_.settings().engine != Engine::mst) costs_.add(call_class_, way_, in_s(took));
}

std::optional<std::uint32_t> Group::begin_nonblocking(std::uint64_t bytes) {
  if (world_.settings().engine == Engine::mst) return std::nullopt;
  // Nobody tells how far others are behind; tags must not be used again too soon.
  if (nonblocking_in_a_row_ == nonblocking_in_a_row_max) return std::nullopt;
  if (!plan_.ours[class_of(Call::ibroadcast, bytes)]) return std::nullopt;
  nonblocking_in_a_row_ += 1;
  way_ = Way::ours;
  return operation_++;
}

void Group::begin_window() {
  if (began_) {
    window_ += 1;
    if (me_ != 0) {
      under_way_.wait();
      exchange_.send_bytes(0, tag(0, Kind::told), costs_.encode(window_, operation_), under_way_);
      plan_ = receive_plan(window_);
    } else {
      const auto told = decode_told(costs_.encode(window_, operation_));
      hear(*told, 0);
      plan_ = next_plan_;
    }
    up_.clear();
    costs_.clear();
    calls_ = {};
    in_window_ = 0;
  }
  began_ = true;
  if (me_ != 0) return;
  hear();
  plan_next_window();
}

void Group::plan_next_window() {
  // Those of the window before have long arrived.
  under_way_.wait();
  const std::uint64_t version = world_.probes() ? world_.probes()->version() : 0;
  if (version != planned_version_ && now() - planned_at_ >= 50 * planning_took_) {
    const Time began = now();
    LinkTable known = links();
    guess_bandwidth(known);
    if (sites_.empty()) sites_.assign(size(), 0);
    planner_->on_links(known, sites_);
    planned_version_ = version;
    planned_at_ = now();
    planning_took_ = planned_at_ - began;
  }
  next_plan_ = planner_->next(now());
  const auto bytes = encode(next_plan_);
  for (Rank to = 1; to < size(); ++to) {
    exchange_.send_bytes(to, tag(window_ + 1, Kind::plan), bytes, under_way_);
  }
}

Plan Group::receive_plan(std::uint32_t window) {
  const auto arrived = exchange_.receive_bytes(0, tag(window, Kind::plan));
  auto plan = decode_plan(arrived.bytes, size());
  if (!plan) throw MpiError{MPI_ERR_OTHER};
  return *std::move(plan);
}

void Group::hear() {
  while (hear_one()) {
  }
  // Others may be a window ahead of this rank.
  const auto far_behind = [&](std::uint32_t heard) {
    return static_cast<std::int32_t>(operation_ - heard) > operations_ahead_max;
  };
  Patience patience = exchange_.patience();
  while (std::any_of(heard_operation_.begin(), heard_operation_.end(), far_behind)) {
    if (!hear_one()) patience.wait();
  }
}

bool Group::hear_one() {
  Exchange::Arrived arrived;
  if (!exchange_.poll_bytes(no_rank, tag(0, Kind::told), arrived)) return false;
  const auto told = decode_told(arrived.bytes);
  if (!told) throw MpiError{MPI_ERR_OTHER};
  hear(*told, arrived.from);
  return true;
}

void Group::hear(const Told& told, Rank from) {
  heard_operation_[from] = told.operation;
  if (from != 0) heard_ += 1;
  planner_->on_told(told);
}

void Group::drain() {
  if (!began_) return;
  const Time until = now() + drain_takes_most;
  Patience patience = exchange_.patience();
  // Everybody tells of each window that it has begun, but the first.
  const auto all_heard = [&] { return heard_ >= std::uint64_t{window_} * (size() - 1); };
  Exchange::Arrived plan;
  bool through = false;
  while (!through && now() < until) {
    if (me_ == 0) {
      while (hear_one()) {
      }
      through = all_heard() && under_way_.test();
    } else {
      const bool has_plan =
          !plan.bytes.empty() || exchange_.poll_bytes(0, tag(window_ + 1, Kind::plan), plan);
      through = has_plan && under_way_.test();
    }
    if (!through) patience.wait();
  }
}

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

MstRunner& Group::mst() {
  if (!mst_) mst_ = std::make_unique<MstRunner>(*this);
  return *mst_;
}

}  // namespace piracema::coll::mpi
