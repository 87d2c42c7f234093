// A whole application as paper 001, section 5 has it, under whatever is preloaded: COUNT broadcasts
// of 24 bytes from rank 12 of 24, right after MPI_Init, and nothing else. It does not wait for a
// tree.
//
//   bench_coll_application LINKS COUNT
//
// Prints one JSON object: seconds of rank 0 from its start until it has left MPI_Finalize, and of
// the broadcasts until the last rank has them. bench/coll/paper.py runs it.
#include <cstdio>
#include <cstdlib>

#include "coll/mpi/exchange/mpi_types.h"
#include "emulated.h"

int main(int argc, char** argv) {
  using namespace piracema;
  using namespace piracema::bench;
  const Time started = now();
  if (!begin(argc, argv, "LINKS COUNT", 24)) return 2;
  const int me = my_rank();
  const double sent = broadcasts(12, std::atoi(argv[2]));
  MPI_Finalize();
  if (me != 0) return 0;
  std::printf("{\"application_s\": %.6f, \"broadcasts_s\": %.6f}\n", in_s(now() - started), sent);
  return 0;
}
