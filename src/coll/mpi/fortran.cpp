// Fortran programs under Open MPI: its Fortran functions call PMPI_ ones, so the C functions here
// would never be seen. MPICH's call the C functions. The names are those of gfortran: `mpi_bcast_`
// for mpif.h and `use mpi`, `mpi_bcast_f08_` for `use mpi_f08`, where the error code is optional.
#include <dlfcn.h>

#include <initializer_list>

#include "coll/mpi/exchange/mpi_types.h"

namespace {

using Fint = MPI_Fint;

bool is_one_of(const void* buffer, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const void* symbol = ::dlsym(RTLD_DEFAULT, name);
    if (symbol != nullptr && symbol == buffer) return true;
  }
  return false;
}

/// MPI_BOTTOM and MPI_IN_PLACE are places of a common block in Fortran.
void* in(void* buffer) {
  if (is_one_of(buffer, {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                         "MPI_FORTRAN_IN_PLACE"})) {
    return MPI_IN_PLACE;
  }
  if (is_one_of(buffer, {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__",
                         "MPI_FORTRAN_BOTTOM"})) {
    return MPI_BOTTOM;
  }
  return buffer;
}
MPI_Comm comm_of(const Fint* comm) { return PMPI_Comm_f2c(*comm); }
MPI_Datatype type_of(const Fint* type) { return PMPI_Type_f2c(*type); }
MPI_Op op_of(const Fint* op) { return PMPI_Op_f2c(*op); }
void put(Fint* error, int code) {
  if (error != nullptr) *error = code;
}

}  // namespace

extern "C" {

void mpi_init_(Fint* e) { put(e, MPI_Init(nullptr, nullptr)); }
void mpi_init_thread_(const Fint* required, Fint* provided, Fint* e) {
  put(e, MPI_Init_thread(nullptr, nullptr, *required, provided));
}
void mpi_finalize_(Fint* e) { put(e, MPI_Finalize()); }
void mpi_barrier_(const Fint* comm, Fint* e) { put(e, MPI_Barrier(comm_of(comm))); }
void mpi_bcast_(void* buffer, const Fint* count, const Fint* type, const Fint* root,
                const Fint* comm, Fint* e) {
  put(e, MPI_Bcast(in(buffer), *count, type_of(type), *root, comm_of(comm)));
}
void mpi_ibcast_(void* buffer, const Fint* count, const Fint* type, const Fint* root,
                 const Fint* comm, Fint* request, Fint* e) {
  MPI_Request begun = MPI_REQUEST_NULL;
  put(e, MPI_Ibcast(in(buffer), *count, type_of(type), *root, comm_of(comm), &begun));
  *request = PMPI_Request_c2f(begun);
}
void mpi_reduce_(void* from, void* to, const Fint* count, const Fint* type, const Fint* op,
                 const Fint* root, const Fint* comm, Fint* e) {
  put(e, MPI_Reduce(in(from), in(to), *count, type_of(type), op_of(op), *root, comm_of(comm)));
}
void mpi_allreduce_(void* from, void* to, const Fint* count, const Fint* type, const Fint* op,
                    const Fint* comm, Fint* e) {
  put(e, MPI_Allreduce(in(from), in(to), *count, type_of(type), op_of(op), comm_of(comm)));
}
void mpi_gather_(void* from, const Fint* count, const Fint* type, void* to, const Fint* to_count,
                 const Fint* to_type, const Fint* root, const Fint* comm, Fint* e) {
  put(e, MPI_Gather(in(from), *count, type_of(type), in(to), *to_count, type_of(to_type), *root,
                    comm_of(comm)));
}
void mpi_gatherv_(void* from, const Fint* count, const Fint* type, void* to, const Fint* to_counts,
                  const Fint* places, const Fint* to_type, const Fint* root, const Fint* comm,
                  Fint* e) {
  put(e, MPI_Gatherv(in(from), *count, type_of(type), in(to), to_counts, places, type_of(to_type),
                     *root, comm_of(comm)));
}
void mpi_scatter_(void* from, const Fint* from_count, const Fint* from_type, void* to,
                  const Fint* count, const Fint* type, const Fint* root, const Fint* comm,
                  Fint* e) {
  put(e, MPI_Scatter(in(from), *from_count, type_of(from_type), in(to), *count, type_of(type),
                     *root, comm_of(comm)));
}
void mpi_scatterv_(void* from, const Fint* from_counts, const Fint* places, const Fint* from_type,
                   void* to, const Fint* count, const Fint* type, const Fint* root,
                   const Fint* comm, Fint* e) {
  put(e, MPI_Scatterv(in(from), from_counts, places, type_of(from_type), in(to), *count,
                      type_of(type), *root, comm_of(comm)));
}
void mpi_allgather_(void* from, const Fint* count, const Fint* type, void* to, const Fint* to_count,
                    const Fint* to_type, const Fint* comm, Fint* e) {
  put(e, MPI_Allgather(in(from), *count, type_of(type), in(to), *to_count, type_of(to_type),
                       comm_of(comm)));
}
void mpi_allgatherv_(void* from, const Fint* count, const Fint* type, void* to,
                     const Fint* to_counts, const Fint* places, const Fint* to_type,
                     const Fint* comm, Fint* e) {
  put(e, MPI_Allgatherv(in(from), *count, type_of(type), in(to), to_counts, places,
                        type_of(to_type), comm_of(comm)));
}

// The other interface, and the names that other compilers make of the older one.
#define PIRACEMA_ALSO(name, upper)                                                    \
  __attribute__((alias("mpi_" #name "_"))) decltype(mpi_##name##_) mpi_##name##_f08_; \
  __attribute__((alias("mpi_" #name "_"))) decltype(mpi_##name##_) mpi_##name;        \
  __attribute__((alias("mpi_" #name "_"))) decltype(mpi_##name##_) mpi_##name##__;    \
  __attribute__((alias("mpi_" #name "_"))) decltype(mpi_##name##_) MPI_##upper;
PIRACEMA_ALSO(init, INIT)
PIRACEMA_ALSO(init_thread, INIT_THREAD)
PIRACEMA_ALSO(finalize, FINALIZE)
PIRACEMA_ALSO(barrier, BARRIER)
PIRACEMA_ALSO(bcast, BCAST)
PIRACEMA_ALSO(ibcast, IBCAST)
PIRACEMA_ALSO(reduce, REDUCE)
PIRACEMA_ALSO(allreduce, ALLREDUCE)
PIRACEMA_ALSO(gather, GATHER)
PIRACEMA_ALSO(gatherv, GATHERV)
PIRACEMA_ALSO(scatter, SCATTER)
PIRACEMA_ALSO(scatterv, SCATTERV)
PIRACEMA_ALSO(allgather, ALLGATHER)
PIRACEMA_ALSO(allgatherv, ALLGATHERV)
#undef PIRACEMA_ALSO

}  // extern "C"
