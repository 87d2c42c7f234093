// A stencil on a ring of ranks that broadcasts its parameters every few steps, while a link becomes
// slow in mid-run: what an application is left with.
//
//   bench_coll_stencil LINKS STEPS SETTLE_S
//
// LINKS is the file of the emulator; it is written here. Each rank has a strip, and sends its
// borders to its neighbours (point to point: the same with every library, and not emulated); every
// fourth step rank 0 broadcasts 4 KB, and all add up a residual. After a third of the steps the
// route of rank 0 to the second site, not that of its neighbours, gets forty times as slow. Prints
// one JSON object; bench/coll/stencil.py runs it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "coll/mpi/exchange/mpi_types.h"

namespace {

using namespace piracema;

constexpr int sites = 3;
int me, size;

/// Sites with 1 ms within and 20 ms between; one route of rank 0 may be slow.
void write_links(const std::string& path, bool degraded) {
  if (me == 0) {
    std::ofstream file(path + ".new");
    const int part = size / sites;
    file << "all all 20ms 10ms\n";
    for (int site = 0; site < sites; ++site) {
      const int last = site == sites - 1 ? size - 1 : (site + 1) * part - 1;
      file << site * part << '-' << last << ' ' << site * part << '-' << last << " 1ms 1ms\n";
    }
    if (degraded) file << "0 " << part << '-' << 2 * part - 1 << " 800ms 400ms\n";
    file.close();
    std::rename((path + ".new").c_str(), path.c_str());
  }
  PMPI_Barrier(MPI_COMM_WORLD);
}

/// One step of a heat equation on this rank's strip; borders come from its neighbours on the ring.
void step(std::vector<double>& now_values, std::vector<double>& next_values, double speed) {
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  const std::size_t last = now_values.size() - 1;
  PMPI_Sendrecv(&now_values[1], 1, MPI_DOUBLE, left, 1, &now_values[last], 1, MPI_DOUBLE, right, 1,
                MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  PMPI_Sendrecv(&now_values[last - 1], 1, MPI_DOUBLE, right, 2, &now_values[0], 1, MPI_DOUBLE, left,
                2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (std::size_t i = 1; i < last; ++i) {
    next_values[i] =
        now_values[i] + speed * (now_values[i - 1] - 2 * now_values[i] + now_values[i + 1]);
  }
  std::swap(now_values, next_values);
}

double run(const std::string& path, int steps, double& sum) {
  std::vector<double> values(1'002), next(1'002), parameters(512);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(0.01 * static_cast<double>(i) + me);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  const Time began = now();
  for (int i = 0; i < steps; ++i) {
    if (i == steps / 3) write_links(path, true);
    if (i % 4 == 0) {
      if (me == 0) std::fill(parameters.begin(), parameters.end(), 0.1 + 1e-4 * i);
      MPI_Bcast(parameters.data(), static_cast<int>(parameters.size()), MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
      double residual = 0;
      for (const double value : values) residual += value * value;
      MPI_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    step(values, next, parameters.front());
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  return std::chrono::duration<double>(now() - began).count();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size < 2 * sites) {
    if (me == 0)
      std::fprintf(stderr, "want LINKS STEPS SETTLE_S and %d ranks at least\n", 2 * sites);
    MPI_Finalize();
    return 2;
  }
  write_links(argv[1], false);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(argv[3])));
  double sum = 0;
  const double took = run(argv[1], std::max(8, std::atoi(argv[2])), sum);
  if (me == 0) std::printf("{\"total_s\": %.6f, \"residual\": %.9g}\n", took, sum);
  MPI_Finalize();
  return 0;
}
