// Fortran programs under MPICH: most of its Fortran functions call the C functions, which are ours.
// These of `use mpi_f08` call PMPI_ ones. The error code is optional.
#include "coll/mpi/exchange/mpi_types.h"

extern "C" {

void mpi_init_f08_(MPI_Fint* error) {
  const int code = MPI_Init(nullptr, nullptr);
  if (error != nullptr) *error = code;
}
void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  const int code = MPI_Init_thread(nullptr, nullptr, *required, provided);
  if (error != nullptr) *error = code;
}
void mpi_finalize_f08_(MPI_Fint* error) {
  const int code = MPI_Finalize();
  if (error != nullptr) *error = code;
}
void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* error) {
  const int code = MPI_Barrier(PMPI_Comm_f2c(*comm));
  if (error != nullptr) *error = code;
}

}  // extern "C"
