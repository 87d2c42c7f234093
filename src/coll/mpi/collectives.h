#pragma once

#include <functional>

#include "coll/mpi/group.h"
#include "coll/mpi/world.h"

/// The collectives along trees. Arguments are right as far as one rank can see. Errors of MPI are
/// thrown. Each is one operation of its group (`Group::begin_operation` was called).
namespace piracema::coll::mpi {

void broadcast(Group&, Data, Rank root);
/// All wait for all.
void barrier(Group&);

/// Data of up to so many bytes travels together with the header.
constexpr std::uint64_t inline_bytes_max = 8'192;

/// What the ranks of a gather or scatter have, at one of them: place and shape of each rank's part.
using Part = std::function<Data(Rank)>;

/// `mine` of every rank comes to the root's `part` of it. At the root `mine` may have no type: its
/// part is in place. `part` is used at the root alone.
void gather(Group&, Data mine, const Part& part, Rank root);
void scatter(Group&, const Part& part, Data mine, Rank root);
/// Every rank gets every part, along the edges of a tree in both directions.
void all_gather(Group&, Data mine, const Part& part, bool large);

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
