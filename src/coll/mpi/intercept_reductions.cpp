// Reductions.
#include <algorithm>
#include <initializer_list>

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

/// Whether the bits of a result are the same in whatever order values are combined: whole numbers
/// by MPI's own operators. Of the program's operators nobody can say, and MPI itself combines those
/// that do not commute in the order of ranks. The same at every rank, as types and operators are.
bool is_free_of_order(MPI_Op op, MPI_Datatype type) {
  const auto is_one_of = [](auto value, std::initializer_list<decltype(value)> all) {
    return std::find(all.begin(), all.end(), value) != all.end();
  };
  return is_one_of(op, {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
                        MPI_LXOR, MPI_BXOR}) &&
         is_one_of(type, {MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
                          MPI_SHORT,       MPI_UNSIGNED_SHORT,
                          MPI_INT,         MPI_UNSIGNED,
                          MPI_LONG,        MPI_UNSIGNED_LONG,
                          MPI_LONG_LONG,   MPI_UNSIGNED_LONG_LONG,
                          MPI_INT8_T,      MPI_INT16_T,
                          MPI_INT32_T,     MPI_INT64_T,
                          MPI_UINT8_T,     MPI_UINT16_T,
                          MPI_UINT32_T,    MPI_UINT64_T,
                          MPI_BYTE,        MPI_C_BOOL,
                          MPI_AINT,        MPI_OFFSET,
                          MPI_COUNT,       MPI_INTEGER,
                          MPI_LOGICAL});
}

/// The program gets the bits that it gets without this library, unless somebody said otherwise: a
/// choice that changes while it runs would change them from run to run.
bool keeps_native_bits(MPI_Op op, MPI_Datatype type) {
  const World* world = World::get();
  return world->settings().engine == Engine::automatic && !world->settings().any_order &&
         !world->settings().fixed_order && !is_free_of_order(op, type);
}

/// Both ways in turns would give other bits each time.
bool wants_fixed_order(MPI_Op op, MPI_Datatype type) {
  return World::get()->settings().fixed_order && !is_free_of_order(op, type);
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
    if (bytes == 0 || !is_for(op, type) || keeps_native_bits(op, type)) return native();
    int me = 0;
    must(PMPI_Comm_rank(comm, &me));
    if (me == root) refuse_alias(from, to, count);
    const void* mine = from == MPI_IN_PLACE ? to : from;
    return collective(
        comm, Call::reduce, bytes, native,
        [&](Group& group) {
          reduce(group, {mine, to, static_cast<int>(count), type, op}, static_cast<Rank>(root));
        },
        wants_fixed_order(op, type));
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
    if (bytes == 0 || !is_for(op, type) || keeps_native_bits(op, type)) return native();
    refuse_alias(from, to, count);
    return collective(
        comm, Call::all_reduce, bytes, native,
        [&](Group& group) {
          all_reduce(group,
                     {from == MPI_IN_PLACE ? to : from, to, static_cast<int>(count), type, op});
        },
        wants_fixed_order(op, type));
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
