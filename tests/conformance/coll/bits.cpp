// Reductions whose last bits depend on the order in which values are combined.
//
//   coll_bits
//
// Rank 0 prints "bits" and a number that is made of all of them.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "checks.h"

int main(int argc, char** argv) {
  answer_who_asks();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::uint64_t bits = 0;
  for (int turn = 0; turn < 60; ++turn) {
    doing = "reductions";
    for (const std::size_t count : {std::size_t{9}, std::size_t{40'000}}) {
      std::vector<double> own(count), sum(count);
      for (std::size_t i = 0; i < count; ++i) {
        own[i] = std::sin(static_cast<double>(i + 1) * (me + 1)) *
                 std::pow(10.0, static_cast<double>((me * 7 + turn) % 13));
      }
      MPI_Allreduce(own.data(), sum.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                    MPI_COMM_WORLD);
      for (const double value : sum) {
        std::uint64_t word = 0;
        std::memcpy(&word, &value, sizeof word);
        bits = (bits ^ word) * 0x100000001b3;
      }
    }
  }
  if (me == 0) std::printf("bits %llx\n", static_cast<unsigned long long>(bits));
  MPI_Finalize();
}
