#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// What programs share that compute N STEPS [REPORT_EVERY] and end with a hash of every bit of the
/// result: heat2d and elastic3d.
struct Steps {
  /// Of a program `name`, which has called MPI_Init. Not `ok`: the words were wrong, and rank 0
  /// has said what is wanted.
  Steps(const char* name, const char* more, int argc, char** argv, long least, long most) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) n = std::atol(argv[1]);
    if (argc > 2) count = std::atol(argv[2]);
    if (argc > 3) every = std::atol(argv[3]);
    ok = n >= least && n <= most && count >= 1 && every >= 0;
    if (!ok && rank == 0) {
      std::fprintf(stderr, "%s: want N STEPS [REPORT_EVERY%s]\n", name, more);
    }
  }
  bool is_reported(long step) const { return every != 0 && step % every == 0; }

  int rank = 0, ranks = 1;
  long n = 0, count = 0, every = 0;
  bool ok = false;
};

/// Of a value's bits and where it stands. The sum of these over all is the hash: the order in which
/// ranks hold them does not matter.
inline std::uint64_t mixed(std::uint64_t bits, std::uint64_t place) {
  std::uint64_t x = bits ^ (0x9E3779B97F4A7C15u * (place + 1));
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  return x ^ (x >> 27);
}

/// Rank 0 writes the last line.
inline void print_hash(std::uint64_t mine, int rank) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("hash %016llx\n", static_cast<unsigned long long>(all));
}
