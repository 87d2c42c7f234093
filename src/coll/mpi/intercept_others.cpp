// Collectives that are left to the MPI library: they are counted, so that it can be said how much
// of a program was not looked at.
#include "coll/mpi/intercept.h"

using namespace piracema::coll::mpi;

extern "C" {

#define PIRACEMA_COUNTED(name, parameters, ...) \
  int MPI_##name parameters {                   \
    seen.calls += 1;                            \
    return PMPI_##name(__VA_ARGS__);            \
  }
#define PIRACEMA_OTHERS(suffix, Count, Place)                                                     \
  PIRACEMA_COUNTED(Alltoall##suffix,                                                              \
                   (const void* from, Count count, MPI_Datatype type, void* to, Count to_count,   \
                    MPI_Datatype to_type, MPI_Comm comm),                                         \
                   from, count, type, to, to_count, to_type, comm)                                \
  PIRACEMA_COUNTED(                                                                               \
      Alltoallv##suffix,                                                                          \
      (const void* from, const Count counts[], const Place places[], MPI_Datatype type, void* to, \
       const Count to_counts[], const Place to_places[], MPI_Datatype to_type, MPI_Comm comm),    \
      from, counts, places, type, to, to_counts, to_places, to_type, comm)                        \
  PIRACEMA_COUNTED(Alltoallw##suffix,                                                             \
                   (const void* from, const Count counts[], const Place places[],                 \
                    const MPI_Datatype types[], void* to, const Count to_counts[],                \
                    const Place to_places[], const MPI_Datatype to_types[], MPI_Comm comm),       \
                   from, counts, places, types, to, to_counts, to_places, to_types, comm)         \
  PIRACEMA_COUNTED(Reduce_scatter##suffix,                                                        \
                   (const void* from, void* to, const Count counts[], MPI_Datatype type,          \
                    MPI_Op op, MPI_Comm comm),                                                    \
                   from, to, counts, type, op, comm)                                              \
  PIRACEMA_COUNTED(                                                                               \
      Reduce_scatter_block##suffix,                                                               \
      (const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),     \
      from, to, count, type, op, comm)                                                            \
  PIRACEMA_COUNTED(                                                                               \
      Scan##suffix,                                                                               \
      (const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),     \
      from, to, count, type, op, comm)                                                            \
  PIRACEMA_COUNTED(                                                                               \
      Exscan##suffix,                                                                             \
      (const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),     \
      from, to, count, type, op, comm)
PIRACEMA_OTHERS(, int, int)
#if MPI_VERSION >= 4
PIRACEMA_OTHERS(_c, MPI_Count, MPI_Aint)
#endif
#undef PIRACEMA_OTHERS
#undef PIRACEMA_COUNTED

}  // extern "C"
