// The Mandelbrot set of N x N points (paper 002, section 4.2.2): the program whose memory one
// chooses. Rows are given out on demand by rank 0, which keeps the picture. Plain MPI; it knows
// nothing of checkpoints.
//
//   mandelbrot N [ITERATIONS]      4 N^2 bytes in rank 0
//
// The last line is a hash of the picture; it does not depend on the number of ranks.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Row = std::vector<std::uint32_t>;
constexpr int work_tag = 1, row_tag = 2;

Row compute(long n, long y, std::uint32_t iterations) {
  Row row(static_cast<std::size_t>(n));
  const double ci = -1.5 + 3.0 * static_cast<double>(y) / static_cast<double>(n);
  for (long x = 0; x < n; ++x) {
    const double cr = -2.0 + 3.0 * static_cast<double>(x) / static_cast<double>(n);
    double zr = 0, zi = 0;
    std::uint32_t count = 0;
    for (; count < iterations && zr * zr + zi * zi < 4.0; ++count) {
      const double next = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = next;
    }
    row[static_cast<std::size_t>(x)] = count;
  }
  return row;
}

// A row of the picture, or -1 when there is no more, goes to whoever has sent one.
void serve(long n, int ranks, Row& picture) {
  long given = 0;
  for (int rank = 1; rank < ranks; ++rank) {
    const long y = given < n ? given++ : -1;
    MPI_Send(&y, 1, MPI_LONG, rank, work_tag, MPI_COMM_WORLD);
  }
  Row message(static_cast<std::size_t>(n + 1));
  for (long done = 0; done < n; ++done) {
    MPI_Status status;
    MPI_Recv(message.data(), static_cast<int>(n + 1), MPI_UINT32_T, MPI_ANY_SOURCE, row_tag,
             MPI_COMM_WORLD, &status);
    for (long x = 0; x < n; ++x) {
      picture[static_cast<std::size_t>(message[0] * static_cast<std::uint64_t>(n)) +
              static_cast<std::size_t>(x)] = message[static_cast<std::size_t>(x + 1)];
    }
    const long y = given < n ? given++ : -1;
    MPI_Send(&y, 1, MPI_LONG, status.MPI_SOURCE, work_tag, MPI_COMM_WORLD);
  }
}

void work(long n, std::uint32_t iterations) {
  for (;;) {
    long y = -1;
    MPI_Recv(&y, 1, MPI_LONG, 0, work_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (y < 0) return;
    Row message = {static_cast<std::uint32_t>(y)};
    const Row row = compute(n, y, iterations);
    message.insert(message.end(), row.begin(), row.end());
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_UINT32_T, 0, row_tag,
             MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long n = argc > 1 ? std::atol(argv[1]) : 0;
  const long iterations = argc > 2 ? std::atol(argv[2]) : 200;
  if (n < 1 || n > 65'536 || iterations < 1) {
    if (rank == 0) std::fprintf(stderr, "mandelbrot: want N [ITERATIONS]\n");
    MPI_Finalize();
    return 2;
  }
  const auto limit = static_cast<std::uint32_t>(iterations);
  if (rank != 0) {
    work(n, limit);
  } else {
    Row picture(static_cast<std::size_t>(n * n));
    if (ranks > 1) {
      serve(n, ranks, picture);
    } else {
      for (long y = 0; y < n; ++y) {
        const Row row = compute(n, y, limit);
        for (long x = 0; x < n; ++x) {
          picture[static_cast<std::size_t>(y * n + x)] = row[static_cast<std::size_t>(x)];
        }
      }
    }
    std::uint64_t hash = 14695981039346656037u;
    for (const std::uint32_t count : picture) hash = (hash ^ count) * 1099511628211u;
    std::printf("hash %016llx\n", static_cast<unsigned long long>(hash));
  }
  MPI_Finalize();
  return 0;
}
