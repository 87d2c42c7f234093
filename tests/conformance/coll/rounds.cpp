// Broadcasts from two roots until a file says that it is enough; the first rank looks, and tells.
//
//   coll_rounds FILE
//
// Every value is checked. Prints "as wanted" at each rank.
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "checks.h"

int main(int argc, char** argv) {
  answer_who_asks();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  doing = "broadcasts";
  struct stat unused {};
  long value[2] = {0, 0};
  for (long turn = 0; value[1] == 0; ++turn) {
    if (me == 0) value[1] = argc < 2 || ::stat(argv[1], &unused) == 0;
    long other = me == size - 1 ? turn : -1;
    MPI_Bcast(&other, 1, MPI_LONG, size - 1, MPI_COMM_WORLD);
    value[0] = me == 0 ? turn : -1;
    MPI_Bcast(value, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    check(value[0] == turn && other == turn, "another value");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  MPI_Finalize();
  if (wrong == 0) std::printf("rank %d: as wanted\n", me);
  return wrong == 0 ? 0 : 1;
}
