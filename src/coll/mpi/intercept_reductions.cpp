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

template <class Native>
int take_reduce(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, Native native) {
  seen.calls += 1;
  if (!is_root_of(comm, root) || !is_good(count, type) || op == MPI_OP_NULL) return native();
  // MPI wants the same count of every rank.
  if (count > INT_MAX) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of(count, type);
    if (bytes == 0 || !is_for(op, type)) return native();
    int me = 0;
    must(PMPI_Comm_rank(comm, &me));
    if (me == root) refuse_alias(from, to, count);
    const void* mine = from == MPI_IN_PLACE ? to : from;
    return collective(comm, Call::reduce, bytes, native, [&](Group& group) {
      reduce(group, {mine, to, static_cast<int>(count), type, op}, static_cast<Rank>(root));
    });
  });
}

template <class Native>
int take_all_reduce(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, Native native) {
  seen.calls += 1;
  if (!is_root_of(comm, 0) || !is_good(count, type) || op == MPI_OP_NULL) return native();
  if (count > INT_MAX) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of(count, type);
    if (bytes == 0 || !is_for(op, type)) return native();
    refuse_alias(from, to, count);
    return collective(comm, Call::all_reduce, bytes, native, [&](Group& group) {
      all_reduce(group, {from == MPI_IN_PLACE ? to : from, to, static_cast<int>(count), type, op});
    });
  });
}

}  // namespace

extern "C" {

#define PIRACEMA_REDUCTIONS(suffix, Count)                                                         \
  int MPI_Reduce##suffix(const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,    \
                         int root, MPI_Comm comm) {                                                \
    return take_reduce(from, to, count, type, op, root, comm, [&] {                                \
      return PMPI_Reduce##suffix(from, to, count, type, op, root, comm);                           \
    });                                                                                            \
  }                                                                                                \
  int MPI_Allreduce##suffix(const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, \
                            MPI_Comm comm) {                                                       \
    return take_all_reduce(from, to, count, type, op, comm, [&] {                                  \
      return PMPI_Allreduce##suffix(from, to, count, type, op, comm);                              \
    });                                                                                            \
  }
PIRACEMA_REDUCTIONS(, int)
#if MPI_VERSION >= 4
PIRACEMA_REDUCTIONS(_c, MPI_Count)
#endif
#undef PIRACEMA_REDUCTIONS

}  // extern "C"
