// What a collective costs on links that are alike, under whatever is preloaded: microseconds a
// call, median of batches, as one JSON object. bench/coll/uniform.py runs it bare and preloaded.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "coll/mpi/mpi_types.h"

namespace {

/// The slowest rank's time of each batch, divided by its calls; the median of the batches.
double microseconds(int calls, int batches, const std::function<void()>& call) {
  std::vector<double> all;
  for (int batch = 0; batch < batches; ++batch) {
    PMPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call();
    double took = MPI_Wtime() - began, most = 0;
    PMPI_Allreduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    all.push_back(most / calls * 1e6);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  std::vector<char> from(1 << 20), to(1 << 20);
  if (me == 0) std::printf("{");
  for (const int bytes : {8, 1'024, 65'536, 1 << 20}) {
    const int some = std::max(1, bytes > 65'536 ? calls / 20 : calls);
    const double bcast =
        microseconds(some, 9, [&] { MPI_Bcast(from.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD); });
    const double sum = microseconds(some, 9, [&] {
      MPI_Allreduce(from.data(), to.data(), bytes / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    });
    if (me == 0)
      std::printf("\"bcast %d\": %.3f, \"allreduce %d\": %.3f, ", bytes, bcast, bytes, sum);
  }
  const double barrier = microseconds(calls, 9, [] { MPI_Barrier(MPI_COMM_WORLD); });
  if (me == 0) std::printf("\"barrier\": %.3f}\n", barrier);
  MPI_Finalize();
  return 0;
}
