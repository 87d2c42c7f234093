#pragma once

#include "coll/mpi/collectives.h"

/// How reductions are done, by their size and operator.
namespace piracema::coll::mpi {

/// Many elements, an operator that commutes.
void reduce_in_segments(Group&, const Reduction&, Rank root);
void all_reduce_in_segments(Group&, const Reduction&);

}  // namespace piracema::coll::mpi
