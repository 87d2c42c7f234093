// The names that MPI 4 added for large counts, as mpi4py and others call them; each result is
// checked.
#include <cstdio>
#include <vector>

#include "checks.h"

#if MPI_VERSION < 4
int main() { return 77; }
#else
int main(int argc, char** argv) {
  answer_who_asks();
  // Broadcasts that do not block want it, to go along trees.
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto ranks = static_cast<std::size_t>(size);
  const std::vector<MPI_Count> counts(ranks, 1);
  std::vector<MPI_Aint> places;
  for (int rank = 0; rank < size; ++rank) places.push_back(rank);
  for (int turn = 0; turn < 20; ++turn) {
    const int root = turn % size;
    const long own = 100L * me + turn;
    const auto of = [&](int rank) { return 100L * rank + turn; };
    const long all = 100L * size * (size - 1) / 2 + long{turn} * size;
    const auto check_parts = [&](const std::vector<long>& parts) {
      for (int rank = 0; rank < size; ++rank) {
        check(parts[static_cast<std::size_t>(rank)] == of(rank), "another part");
      }
    };
    doing = "broadcasts";
    long value = me == root ? own : -1;
    MPI_Bcast_c(&value, 1, MPI_LONG, root, MPI_COMM_WORLD);
    check(value == of(root), "another value");
    MPI_Request request;
    value = me == root ? own : -1;
    MPI_Ibcast_c(&value, 1, MPI_LONG, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(value == of(root), "another value");
    doing = "types of large counts";
    // Every second number, twice: small enough for one message, and in segments.
    for (const MPI_Count half : {MPI_Count{2}, MPI_Count{100'000}}) {
      MPI_Datatype second = MPI_DATATYPE_NULL;
      MPI_Type_vector_c(half, 1, 2, MPI_LONG, &second);
      MPI_Type_commit(&second);
      for (const bool waits : {false, true}) {
        std::vector<long> numbers(static_cast<std::size_t>(2 * half), me == root ? own : -1);
        if (waits) {
          MPI_Bcast_c(numbers.data(), 1, second, root, MPI_COMM_WORLD);
        } else {
          MPI_Ibcast_c(numbers.data(), 1, second, root, MPI_COMM_WORLD, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        check(numbers.front() == of(root) && numbers[numbers.size() - 2] == of(root),
              "another value");
        check(me == root || numbers.back() == -1, "a hole was written to");
      }
      MPI_Type_free(&second);
    }
    doing = "reductions";
    long sum = -1;
    MPI_Allreduce_c(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(sum == all, "another sum");
    sum = -1;
    MPI_Reduce_c(&own, &sum, 1, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
    check(me != root || sum == all, "another sum");
    doing = "gathers";
    std::vector<long> parts(ranks, -1);
    MPI_Allgather_c(&own, 1, MPI_LONG, parts.data(), 1, MPI_LONG, MPI_COMM_WORLD);
    check_parts(parts);
    parts.assign(ranks, -1);
    MPI_Allgatherv_c(&own, 1, MPI_LONG, parts.data(), counts.data(), places.data(), MPI_LONG,
                     MPI_COMM_WORLD);
    check_parts(parts);
    parts.assign(ranks, -1);
    MPI_Gather_c(&own, 1, MPI_LONG, parts.data(), 1, MPI_LONG, root, MPI_COMM_WORLD);
    if (me == root) check_parts(parts);
    parts.assign(ranks, -1);
    MPI_Gatherv_c(&own, 1, MPI_LONG, parts.data(), counts.data(), places.data(), MPI_LONG, root,
                  MPI_COMM_WORLD);
    if (me == root) check_parts(parts);
    doing = "scatters";
    for (int rank = 0; rank < size; ++rank) parts[static_cast<std::size_t>(rank)] = of(rank);
    value = -1;
    MPI_Scatter_c(parts.data(), 1, MPI_LONG, &value, 1, MPI_LONG, root, MPI_COMM_WORLD);
    check(value == own, "another value");
    value = -1;
    MPI_Scatterv_c(parts.data(), counts.data(), places.data(), MPI_LONG, &value, 1, MPI_LONG, root,
                   MPI_COMM_WORLD);
    check(value == own, "another value");
  }
  MPI_Finalize();
  if (wrong == 0) std::printf("rank %d: as wanted\n", me);
  return wrong == 0 ? 0 : 1;
}
#endif
