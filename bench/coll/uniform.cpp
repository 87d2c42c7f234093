// What the preloaded library costs where there is nothing to win: each call by its MPI_ name, which
// the library has, and by its PMPI_ name, which is the MPI library's own, in turns in one process.
// So both have the same memory, caches and neighbours: between two processes the same native call
// of 1 MB differs by more than what is to be measured.
//
//   bench_coll_uniform [PAIRS]
//
// Prints one JSON object: for each call microseconds by the MPI library, by ours, the median of the
// differences of neighbours, and the mean of all differences, which has the library's trials in it,
// and whatever took the core away; and how many of either side's took twice the median and more.
// bench/coll/uniform.py runs it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "coll/mpi/exchange/mpi_types.h"

namespace {

using Work = std::function<void()>;

/// About so long takes what is measured as one.
constexpr double batch_us = 1'000;

int me = 0;

/// The slowest rank's time a call, microseconds.
double batch(int calls, const Work& call) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  double took = MPI_Wtime() - began, most = 0;
  PMPI_Allreduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most / calls * 1e6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// How many took twice as long as the middle one, and more.
long long_ones(const std::vector<double>& values) {
  return std::count_if(values.begin(), values.end(),
                       [limit = 2 * median(values)](double value) { return value > limit; });
}

void compare(const char* name, int bytes, int pairs, const Work& native, const Work& ours,
             const char* end = ",") {
  double quick = batch(20, native);
  for (int i = 0; i < 4; ++i) quick = std::min(quick, batch(20, native));
  const int calls = std::clamp(static_cast<int>(batch_us / quick), 1, 200);
  // The library learns on these; windows are short at first.
  for (int i = 0; i < 10; ++i) batch(calls, ours);
  std::vector<double> one, other, differences;
  for (int i = 0; i < pairs; ++i) {
    // Who comes first changes, too.
    const bool swap = i % 2 == 1;
    const double first = batch(calls, swap ? ours : native);
    const double second = batch(calls, swap ? native : ours);
    one.push_back(swap ? second : first);
    other.push_back(swap ? first : second);
    differences.push_back(other.back() - one.back());
  }
  if (me != 0) return;
  const double mean =
      std::accumulate(differences.begin(), differences.end(), 0.0) / static_cast<double>(pairs);
  std::printf("\"%s %d\": [%.3f, %.3f, %.3f, %.3f, %ld, %ld]%s\n", name, bytes, median(one),
              median(other), median(differences), mean, long_ones(one), long_ones(other), end);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int pairs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 101;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  std::vector<char> from(1 << 20), to(1 << 20);
  const MPI_Comm all = MPI_COMM_WORLD;
  if (me == 0) std::printf("{");
  for (const int bytes : {8, 1'024, 65'536, 1 << 20}) {
    compare(
        "bcast", bytes, pairs, [&] { PMPI_Bcast(from.data(), bytes, MPI_BYTE, 0, all); },
        [&] { MPI_Bcast(from.data(), bytes, MPI_BYTE, 0, all); });
    const int count = bytes / 8;
    compare(
        "allreduce", bytes, pairs,
        [&] { PMPI_Allreduce(from.data(), to.data(), count, MPI_LONG, MPI_SUM, all); },
        [&] { MPI_Allreduce(from.data(), to.data(), count, MPI_LONG, MPI_SUM, all); });
  }
  compare(
      "barrier", 0, pairs, [&] { PMPI_Barrier(all); }, [&] { MPI_Barrier(all); }, "}");
  MPI_Finalize();
  return 0;
}
