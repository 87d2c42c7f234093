// Barriers.
#include "checks.h"

void barriers(MPI_Comm comm) {
  // Rank 0 tells each one, before it enters; nobody leaves before it has.
  for (int turn = 0; turn < 10; ++turn) {
    doing = "barrier";
    int told = -1;
    MPI_Request request;
    const int late = turn % size;
    // Posted first: MPICH lets nobody send to themselves before.
    MPI_Irecv(&told, 1, MPI_INT, late, 7, comm, &request);
    if (me == late) {
      for (int rank = 0; rank < size; ++rank) MPI_Send(&turn, 1, MPI_INT, rank, 7, comm);
    }
    MPI_Barrier(comm);
    int there = 0;
    MPI_Iprobe(late, 7, comm, &there, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(told == turn, "another turn's message");
  }
}
