// What is known at the end of a job, from all ranks.
#include <cstdio>

#include "coll/mpi/group.h"
#include "coll/mpi/probe/mst_runner.h"

namespace piracema::coll::mpi {

Totals World::count_all() {
  std::uint64_t mine[2] = {probes_ ? probes_->packets_sent() : 0, 0}, all[2] = {};
  Totals totals;
  for (Group* group : groups_) {
    if (group->spent() != nullptr && group->size() == size_) totals.calls.add(*group->spent());
    const MstRunner* mst = group->mst();
    if (mst == nullptr) continue;
    mine[1] += mst->letters();
    if (const auto round = mst->round()) totals.rounds += *round + 1;
  }
  PMPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, own_);
  totals.probes = all[0];
  totals.letters = all[1];
  return totals;
}

void World::report() {
  // All have the setting of their own environment; rank 0's counts.
  int wanted = !settings_.report.empty();
  PMPI_Bcast(&wanted, 1, MPI_INT, 0, own_);
  if (wanted == 0) return;
  std::string lines;
  for (const std::string& line : trees_) lines += line;
  int length = as_int(lines.size());
  std::vector<int> lengths(size_), places(size_, 0);
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, own_);
  for (Rank rank = 1; rank < size_; ++rank) places[rank] = places[rank - 1] + lengths[rank - 1];
  std::string all(static_cast<std::size_t>(me_ == 0 ? places.back() + lengths.back() : 0), ' ');
  PMPI_Gatherv(lines.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR,
               0, own_);
  const Totals totals = count_all();
  if (me_ != 0) return;
  if (auto written = write_report(settings_, size_, probes_.get(), totals, all); !written) {
    std::fprintf(stderr, "piracema: warning: %s\n", written.error().message.c_str());
  }
}

}  // namespace piracema::coll::mpi
