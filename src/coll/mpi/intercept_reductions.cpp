// Reductions.
#include "coll/mpi/intercept.h"

using namespace piracema::coll;
using namespace piracema::coll::mpi;

namespace {

/// Whether a type is one that an operator is for. Of the program's own operators nobody can say.
bool is_for(MPI_Op op, MPI_Datatype type) {
  for (const MPI_Op known : {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR,
                             MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC}) {
    if (op != known) continue;
    char from = 0, to = 0;
    return PMPI_Allreduce(&from, &to, 0, type, op, World::get()->alone()) == MPI_SUCCESS;
  }
  return true;
}

}  // namespace

extern "C" {

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const auto native = [&] { return PMPI_Reduce(from, to, count, type, op, root, comm); };
  if (!is_root_of(comm, root) || !is_good(count, type) || op == MPI_OP_NULL) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of({nullptr, count, type});
    if (bytes == 0) return native();
    if (!is_for(op, type)) return native();
    int me = 0;
    must(PMPI_Comm_rank(comm, &me));
    if (me == root) refuse_alias(from, to, count);
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
    if (bytes == 0 || !is_for(op, type)) return native();
    refuse_alias(from, to, count);
    return collective(comm, Call::all_reduce, bytes, native, [&](Group& group) {
      all_reduce(group, {from == MPI_IN_PLACE ? to : from, to, count, type, op});
    });
  });
}

}  // extern "C"
