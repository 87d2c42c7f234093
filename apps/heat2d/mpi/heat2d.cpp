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
#include <cstdlib>
#include <cstring>
#include <vector>

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

// The sum of a mix of place and bits: the order of the ranks does not matter.
std::uint64_t hash(Plate& plate) {
  std::uint64_t mine = 0;
  for (long i = 0; i < plate.rows * plate.n; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, plate.row(1) + i, sizeof bits);
    std::uint64_t x =
        bits ^ (0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(plate.first * plate.n + i + 1));
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    mine += x ^ (x >> 27);
  }
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long n = argc > 1 ? std::atol(argv[1]) : 0, steps = argc > 2 ? std::atol(argv[2]) : 0;
  const long every = argc > 3 ? std::atol(argv[3]) : 0;
  if (n < ranks || n > 100'000 || steps < 1 || every < 0) {
    if (rank == 0) std::fprintf(stderr, "heat2d: want N STEPS [REPORT_EVERY [FILE]]\n");
    MPI_Finalize();
    return 2;
  }
  std::FILE* const file = rank == 0 && argc > 4 ? std::fopen(argv[4], "w") : nullptr;
  Plate plate(n, rank, ranks);
  for (long i = 1; i <= steps; ++i) {
    const double change = step(plate);
    if (rank != 0 || every == 0 || i % every != 0) continue;
    std::printf("step %ld change %.17g\n", i, change);
    std::fflush(stdout);
    if (file != nullptr) {
      std::fprintf(file, "step %ld change %.17g\n", i, change);
      std::fflush(file);
    }
  }
  const std::uint64_t result = hash(plate);
  if (rank == 0) std::printf("hash %016llx\n", static_cast<unsigned long long>(result));
  if (file != nullptr) std::fclose(file);
  MPI_Finalize();
  return 0;
}
