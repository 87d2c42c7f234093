// Reductions.
#include "coll/mpi/intercept.h"

using namespace piracema::coll;
using namespace piracema::coll::mpi;

extern "C" {

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const auto native = [&] { return PMPI_Reduce(from, to, count, type, op, root, comm); };
  if (!is_root_of(comm, root) || !is_good(count, type) || op == MPI_OP_NULL) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of({nullptr, count, type});
    if (bytes == 0) return native();
    const void* mine = from == MPI_IN_PLACE ? to : from;
    return collective(comm, Call::reduce, bytes, native, [&](Group& group) {
      reduce(group, {mine, to, count, type, op}, static_cast<Rank>(root));
    });
  });
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const auto native = [&] { return PMPI_Allreduce(from, to, count, type, op, comm); };
  if (!is_root_of(comm, 0) || !is_good(count, type) || op == MPI_OP_NULL) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of({nullptr, count, type});
    if (bytes == 0) return native();
    return collective(comm, Call::all_reduce, bytes, native, [&](Group& group) {
      all_reduce(group, {from == MPI_IN_PLACE ? to : from, to, count, type, op});
    });
  });
}

}  // extern "C"
