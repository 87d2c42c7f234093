// Arguments that are wrong are errors, and all goes on.
#include "checks.h"

void wrong_arguments(MPI_Comm world) {
  doing = "wrong arguments";
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int value = 1;
  const auto class_of = [](int code) {
    int found;
    MPI_Error_class(code, &found);
    return found;
  };
  check(class_of(MPI_Bcast(&value, 1, MPI_INT, size, comm)) == MPI_ERR_ROOT, "root");
  check(class_of(MPI_Bcast(&value, 1, MPI_INT, -7, comm)) == MPI_ERR_ROOT, "root below 0");
  check(class_of(MPI_Bcast(&value, -1, MPI_INT, 0, comm)) == MPI_ERR_COUNT, "count");
  check(class_of(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm)) == MPI_ERR_TYPE, "type");
  check(class_of(MPI_Allreduce(&value, &value + 0, 1, MPI_INT, MPI_OP_NULL, comm)) == MPI_ERR_OP,
        "operator");
  // Each MPI has pairs of operator and type that it refuses.
#ifdef MPICH_VERSION
  const MPI_Datatype odd = MPI_BYTE;
  const MPI_Op with = MPI_MAX;
  check(class_of(MPI_Allreduce(&value, &value + 0, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_BUFFER,
        "one buffer for both");
#else
  const MPI_Datatype odd = MPI_DOUBLE;
  const MPI_Op with = MPI_LAND;
#endif
  double from = 0, to = 0;
  check(class_of(MPI_Allreduce(&from, &to, 1, odd, with, comm)) == MPI_ERR_OP, "pair");
  check(class_of(MPI_Reduce(&from, &to, 1, odd, with, 0, comm)) == MPI_ERR_OP, "pair");
  // And all goes on.
  value = me == 0 ? 5 : 0;
  check(MPI_Bcast(&value, 1, MPI_INT, 0, comm) == MPI_SUCCESS && value == 5, "the next one");
  MPI_Comm_free(&comm);
}
