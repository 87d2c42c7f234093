// Heat in a square plate (paper 002, section 4.1): Jacobi steps on an N x N grid whose rows are
// divided among the ranks. Plain MPI; it knows nothing of checkpoints.
//
//   heat2d N STEPS [REPORT_EVERY [FILE]]
//
// Every REPORT_EVERY steps rank 0 writes the largest change to standard output, and to FILE if
// there is one. The last line is a hash of every bit of the result. It depends on N, STEPS and
// nothing else: not on the number of ranks.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "steps.h"

namespace {

struct Plate {
  Plate(long size, int rank_, int ranks_)
      : n(size),
        rank(rank_),
        ranks(ranks_),
        first(n * rank / ranks),
        rows(n * (rank + 1) / ranks - first),
        now(static_cast<std::size_t>((rows + 2) * n)),
        next(now.size()) {
    for (long y = 0; y < rows + 2; ++y) {
      for (long x = 0; x < n; ++x) {
        const long row = first + y - 1;
        const bool hot = row <= 0 || (x == 0 && row < n / 2);
        at(now, y, x) = at(next, y, x) = hot ? 100.0 : 0.0;
      }
    }
  }

  double& at(std::vector<double>& grid, long y, long x) const {
    return grid[static_cast<std::size_t>(y * n + x)];
  }
  double* row(long y) { return now.data() + y * n; }

  const long n;
  const int rank, ranks;
  /// Of this rank: the rows first to first + rows - 1; one more of each neighbour around them.
  const long first, rows;
  std::vector<double> now, next;
};

void exchange(Plate& plate) {
  const int up = plate.rank > 0 ? plate.rank - 1 : MPI_PROC_NULL;
  const int down = plate.rank + 1 < plate.ranks ? plate.rank + 1 : MPI_PROC_NULL;
  const int n = static_cast<int>(plate.n);
  MPI_Request requests[4];
  MPI_Irecv(plate.row(0), n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(plate.row(plate.rows + 1), n, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(plate.row(1), n, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(plate.row(plate.rows), n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// One step; the edges of the plate keep their heat. The largest change of all ranks.
double step(Plate& plate) {
  exchange(plate);
  double change = 0;
  for (long y = 1; y <= plate.rows; ++y) {
    const long row = plate.first + y - 1;
    if (row == 0 || row == plate.n - 1) continue;
    for (long x = 1; x < plate.n - 1; ++x) {
      const double value = 0.25 * (plate.at(plate.now, y - 1, x) + plate.at(plate.now, y + 1, x) +
                                   plate.at(plate.now, y, x - 1) + plate.at(plate.now, y, x + 1));
      change = std::max(change, std::fabs(value - plate.at(plate.now, y, x)));
      plate.at(plate.next, y, x) = value;
    }
  }
  plate.now.swap(plate.next);
  double largest = 0;
  MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

// Of the cells of this rank.
std::uint64_t hash(Plate& plate) {
  std::uint64_t mine = 0;
  for (long i = 0; i < plate.rows * plate.n; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, plate.row(1) + i, sizeof bits);
    mine += mixed(bits, static_cast<std::uint64_t>(plate.first * plate.n + i));
  }
  return mine;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Steps steps("heat2d", " [FILE]", argc, argv, ranks, 100'000);
  if (!steps.ok) {
    MPI_Finalize();
    return 2;
  }
  std::FILE* const file = steps.rank == 0 && argc > 4 ? std::fopen(argv[4], "w") : nullptr;
  Plate plate(steps.n, steps.rank, steps.ranks);
  for (long i = 1; i <= steps.count; ++i) {
    const double change = step(plate);
    if (steps.rank != 0 || !steps.is_reported(i)) continue;
    std::printf("step %ld change %.17g\n", i, change);
    std::fflush(stdout);
    if (file != nullptr) {
      std::fprintf(file, "step %ld change %.17g\n", i, change);
      std::fflush(file);
    }
  }
  print_hash(hash(plate), steps.rank);
  if (file != nullptr) std::fclose(file);
  MPI_Finalize();
  return 0;
}
