// A correct program whose root runs far ahead: it broadcasts as fast as it can, while the last rank
// is busy with something else until the root is through with half of it, or is held back, as a
// library may do.
//
//   coll_far_ahead BROADCASTS [WAITING_MS]
//
// Prints "as wanted" at each rank where every value was right.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "checks.h"

namespace {

constexpr int half_way = 7;

/// Busy without a collective until the root has told how far it is, or so long.
void be_busy(std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  int there = 0;
  while (there == 0 && std::chrono::steady_clock::now() < until) {
    MPI_Iprobe(0, half_way, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  answer_who_asks();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = argc > 1 ? std::atoi(argv[1]) : 20'000;
  const std::chrono::milliseconds most(argc > 2 ? std::atoi(argv[2]) : 2'000);
  doing = "a root far ahead";
  long told = 0;
  MPI_Request telling = MPI_REQUEST_NULL;
  if (me == size - 1) be_busy(most);
  for (int i = 0; i < count; ++i) {
    long value = me == 0 ? 3L * i : -1;
    const int code = MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    check(code == MPI_SUCCESS && value == 3L * i, "another value");
    if (me == 0 && i == count / 2) {
      MPI_Isend(&told, 1, MPI_LONG, size - 1, half_way, MPI_COMM_WORLD, &telling);
    }
  }
  if (me == size - 1) MPI_Recv(&told, 1, MPI_LONG, 0, half_way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&telling, MPI_STATUS_IGNORE);
  MPI_Finalize();
  if (wrong == 0) std::printf("rank %d: as wanted\n", me);
  return wrong == 0 ? 0 : 1;
}
