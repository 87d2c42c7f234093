#pragma once

#include "coll/mpi/reduce.h"

/// Large reductions of operators that commute: slice by slice up the tree, and for an allreduce
/// down again while later slices still come up, so that a tree is as fast as its slowest link.
namespace piracema::coll::mpi {

void reduce_in_segments(Group&, const Reduction&, Rank root);
void all_reduce_in_segments(Group&, const Reduction&);

}  // namespace piracema::coll::mpi
