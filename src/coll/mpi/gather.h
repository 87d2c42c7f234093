#pragma once

#include <functional>

#include "coll/mpi/group.h"
#include "coll/mpi/world.h"

/// Gather, scatter and allgather: parts of all ranks, packed, along the tree. Arguments are right
/// as far as one rank can see. Errors of MPI are thrown. Each is one operation of its group
/// (`Group::begin_operation` was called).
namespace piracema::coll::mpi {

/// What the ranks of a gather or scatter have, at one of them: place and shape of each rank's part.
using Part = std::function<Data(Rank)>;

/// `mine` of every rank comes to the root's `part` of it. At the root `mine` may have no type: its
/// part is in place. `part` is used at the root alone.
void gather(Group&, Data mine, const Part& part, Rank root);
void scatter(Group&, const Part& part, Data mine, Rank root);
/// Every rank gets every part, along the edges of a tree in both directions.
void all_gather(Group&, Data mine, const Part& part, bool large);

}  // namespace piracema::coll::mpi
