#pragma once

#include <set>
#include <string>

#include "coll/mpi/exchange/mpi_types.h"
#include "coll/mpi/report.h"

namespace piracema::coll::mpi {

class Group;

/// What all ranks know at the end of a job, brought together at rank 0. Both calls are collective;
/// what the others get of them is nothing.
class FinalCount {
 public:
  /// `comm` has all ranks of the job; `groups` outlives it.
  FinalCount(MPI_Comm comm, Rank me, Rank size, const std::set<Group*>& groups)
      : comm_(comm), me_(me), size_(size), groups_(groups) {}

  /// What all ranks have, one after the other.
  std::string text(const std::string& mine) const;
  /// `probes` may be null.
  Totals totals(Engine engine, const ProbeThread* probes) const;

 private:
  MstTree mst_tree() const;
  /// A line of what this rank's broadcasts went along, if there were any.
  std::string mst_uses() const;

  const MPI_Comm comm_;
  const Rank me_, size_;
  const std::set<Group*>& groups_;
};

}  // namespace piracema::coll::mpi
