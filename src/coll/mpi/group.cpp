#include "coll/mpi/group.h"

#include <algorithm>

#include "coll/mpi/probe/mst_runner.h"

namespace piracema::coll::mpi {

namespace {

/// Stands for "never ours" as an attribute.
char never;
/// Both are guests of the thread that measures links. No world has so many ranks.
constexpr std::uint64_t of_plans_beside_mst = std::uint64_t{1} << 63;
constexpr std::chrono::milliseconds shown_every{250};

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

/// The same ranks, but none of the attributes: copying those may run code of the program. None
/// where MPI has no more communicators, of which the program hears nothing.
MPI_Comm copy(MPI_Comm comm) {
  MPI_Group group;
  MPI_Errhandler of_program;
  MPI_Comm own = MPI_COMM_NULL;
  must(PMPI_Comm_group(comm, &group));
  must(PMPI_Comm_get_errhandler(comm, &of_program));
  must(PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  const int code = PMPI_Comm_create(comm, group, &own);
  must(PMPI_Comm_set_errhandler(comm, of_program));
  must(PMPI_Errhandler_free(&of_program));
  must(PMPI_Group_free(&group));
  if (code != MPI_SUCCESS) return MPI_COMM_NULL;
  must(PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
  return own;
}

/// The largest number that a rank has; at all of them.
int largest(MPI_Comm own, int mine) {
  constexpr int tag = 0;
  int me = 0, size = 0, other = 0;
  must(PMPI_Comm_rank(own, &me));
  must(PMPI_Comm_size(own, &size));
  if (me != 0) {
    must(PMPI_Send(&mine, 1, MPI_INT, 0, tag, own));
    must(PMPI_Recv(&mine, 1, MPI_INT, 0, tag, own, MPI_STATUS_IGNORE));
    return mine;
  }
  for (int rank = 1; rank < size; ++rank) {
    must(PMPI_Recv(&other, 1, MPI_INT, rank, tag, own, MPI_STATUS_IGNORE));
    mine = std::max(mine, other);
  }
  for (int rank = 1; rank < size; ++rank) must(PMPI_Send(&mine, 1, MPI_INT, rank, tag, own));
  return mine;
}

/// The same at every rank of the communicator, one of its own: `own`, or none, if some rank has as
/// many as it may have. Asked on that one, as the program's may be just about to be copied
/// (MPI_Comm_idup): with a reduction on it before, Open MPI gave the ranks different ones. And not
/// by a reduction: MPICH 5 has room for those of few communicators in shared memory, and without it
/// the program's own had other bits.
MPI_Comm if_there_is_room(const World& world, MPI_Comm own) {
  if (own == MPI_COMM_NULL) return own;
  if (largest(own, world.groups()) >= Group::most_at_a_time) must(PMPI_Comm_free(&own));
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
  const MPI_Comm own = ranks.empty() ? MPI_COMM_NULL : if_there_is_room(world, copy(comm));
  if (own == MPI_COMM_NULL) {
    must(PMPI_Comm_set_attr(comm, world.keyval(), &never));
    return nullptr;
  }
  auto* group = new Group(world, comm, own, std::move(ranks));
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
    group->windows().drain(now() + drain_takes_most, false);
    world->remove(group);
    const WindowCosts* const spent = group->windows().spent();
    if (world->figures() && spent && group->size() == world->size()) {
      world->figures()->on_end_of(group, *spent, group->windows().plan().ours);
    }
    MPI_Comm own = group->exchange_.comm();
    // Somebody who still waits for a tree gets it from those who have it.
    if (group->mst_) must(PMPI_Barrier(own));
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
      exchange_(own, world.emulator(), world_ranks, world.waiting()),
      trees_(world, world_ranks, me()) {
  const Settings& settings = world.settings();
  std::uint64_t number = std::uint64_t{world.me()} << 32 | world.count_group();
  if (world.probes() != nullptr) must(PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, own));
  if (settings.engine == Engine::mst && world.probes() != nullptr) {
    mst_ = std::make_unique<MstRunner>(*world.probes(), number, me(), world_ranks,
                                       settings.threshold, settings.adapt_every);
    number |= of_plans_beside_mst;
  }
  windows_ = std::make_unique<Windows>(exchange_, trees_, settings.engine, world.probes(), number,
                                       std::move(world_ranks));
}

Group::~Group() = default;

Way Group::begin_operation(Call call, std::uint64_t bytes, bool always_ours) {
  const Way way = windows_->begin_operation(call, bytes, always_ours);
  const bool is_seen = me() == 0 && world_.figures() != nullptr && size() == world_.size();
  if (is_seen && windows_->at_first()) show();
  return way;
}

const Branches& Group::tree(std::uint64_t bytes) {
  // On emulated links the MPI library's own collective is one along a binomial tree.
  return windows_->way() == Way::theirs ? trees_.binomial() : trees_.from_here(bytes);
}

// In the program's time, so seldom.
void Group::show() {
  const Time at = now();
  if (at - shown_at_ < shown_every) return;
  FiguresWriter& figures = *world_.figures();
  if (!figures.on_calls(this, *windows_->spent(), windows_->plan().ours)) return;
  shown_at_ = at;
  if (!mst_ || user_ != MPI_COMM_WORLD) return;
  std::uint64_t along_rounds = 0;
  for (const auto& [round, count] : mst_use_.rounds) along_rounds += count;
  figures.on_mst(along_rounds, mst_use_.binomial, mst_use_.own_view, mst_use_.fallen_back);
}

}  // namespace piracema::coll::mpi
