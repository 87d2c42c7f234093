// Runs all parts on MPI_COMM_WORLD, and on one whose ranks are turned around; counts what is wrong.
//
//   coll_program [PART]     one part alone: broadcasts, reductions, gathers, nonblocking, barriers
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "checks.h"

namespace {

/// The one part that is to run; all without.
std::string only;
bool is_wanted(const char* part) { return only.empty() || only == part; }

void all_of_it(MPI_Comm comm) {
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  if (is_wanted("broadcasts")) broadcasts(comm);
  if (is_wanted("reductions")) reductions(comm);
  if (is_wanted("gathers")) gathers(comm);
  if (is_wanted("nonblocking")) nonblocking_broadcasts(comm);
  if (is_wanted("barriers")) barriers(comm);
}

}  // namespace

int main(int argc, char** argv) {
  answer_who_asks();
  only = argc > 1 ? argv[1] : "";
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (const char* path = std::getenv("PIRACEMA_COLL_TEST_PID"); path && me == 1) {
    // For who wants to stop this rank; there at once.
    const std::string other = std::string(path) + ".new";
    std::FILE* file = std::fopen(other.c_str(), "w");
    if (file) std::fprintf(file, "%ld", static_cast<long>(::getpid()));
    if (file) std::fclose(file);
    std::rename(other.c_str(), path);
  }
  if (std::getenv("PIRACEMA_COLL_TEST_DIE")) {
    // Rank 1 dies in the middle of many broadcasts; the others must not wait for it forever.
    for (int i = 0, value = 0; i < 1'000'000; ++i) {
      if (me == 1 && i == 1'000) std::raise(SIGKILL);
      MPI_Bcast(&value, 1, MPI_INT, i % 2 * 2, MPI_COMM_WORLD);
    }
  }
  all_of_it(MPI_COMM_WORLD);
  if (only.empty()) communicators();
  if (only.empty()) wrong_arguments(MPI_COMM_WORLD);
  if (size > 2) {
    // Ranks turned around, and one left out.
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, me == 1, -me, &turned);
    all_of_it(turned);
    MPI_Comm_free(&turned);
  }
  doing = "the end";
  long sums[2] = {checks, wrong}, all[2];
  PMPI_Reduce(sums, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) std::printf("%ld checks, %ld wrong\n", all[0], all[1]);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
