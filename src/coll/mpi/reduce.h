#pragma once

#include "coll/mpi/group.h"
#include "coll/mpi/world.h"

/// Reductions along trees; what holds of gathers (gather.h) does of them.
namespace piracema::coll::mpi {

/// Combines `count` elements of each rank at the root. `to` is used at the root alone, or at every
/// rank if all reduce, and may be `from` there. Commutative operators combine along the tree, many
/// elements slice by slice; others, and all with `fixed_order`, in the order of ranks.
struct Reduction {
  const void* from = nullptr;
  void* to = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};
void reduce(Group&, const Reduction&, Rank root);
void all_reduce(Group&, const Reduction&);

}  // namespace piracema::coll::mpi
