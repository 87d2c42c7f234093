// The Mandelbrot set of N x N points (paper 002, section 4.2.2): the program whose memory one
// chooses. Rows are given out on demand by rank 0, which keeps the picture. Plain MPI; it knows
// nothing of checkpoints.
//
//   mandelbrot N [ITERATIONS [FIRST]]      8 N^2 bytes in rank 0
//
// The picture is drawn with FIRST iterations, then with twice as many, and so on until there are
// ITERATIONS; a line says so of each that is not the last. The last line is a hash of the picture;
// it does not depend on the number of ranks.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace {

using Row = std::vector<std::uint64_t>;
constexpr int work_tag = 1, row_tag = 2;

/// Which row, and how often to iterate; row -1: there is no more.
using Work = std::array<long, 2>;

Row compute(long n, long y, long iterations) {
  Row row(static_cast<std::size_t>(n));
  const double ci = -1.5 + 3.0 * static_cast<double>(y) / static_cast<double>(n);
  for (long x = 0; x < n; ++x) {
    const double cr = -2.0 + 3.0 * static_cast<double>(x) / static_cast<double>(n);
    double zr = 0, zi = 0;
    long count = 0;
    for (; count < iterations && zr * zr + zi * zi < 4.0; ++count) {
      const double next = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = next;
    }
    row[static_cast<std::size_t>(x)] = static_cast<std::uint64_t>(count);
  }
  return row;
}

void give(int rank, const Work& work) {
  MPI_Send(work.data(), 2, MPI_LONG, rank, work_tag, MPI_COMM_WORLD);
}

// A row goes to whoever has sent one.
void serve(long n, int ranks, long iterations, std::span<std::uint64_t> picture) {
  const auto width = static_cast<std::size_t>(n);
  long given = 0;
  for (int rank = 1; rank < ranks && given < n; ++rank) give(rank, {given++, iterations});
  Row message(width + 1);
  for (long done = 0; done < n; ++done) {
    MPI_Status status;
    MPI_Recv(message.data(), static_cast<int>(n + 1), MPI_UINT64_T, MPI_ANY_SOURCE, row_tag,
             MPI_COMM_WORLD, &status);
    std::copy(message.begin() + 1, message.end(), &picture[message[0] * width]);
    if (given < n) give(status.MPI_SOURCE, {given++, iterations});
  }
}

void work(long n) {
  for (;;) {
    Work asked{};
    MPI_Recv(asked.data(), 2, MPI_LONG, 0, work_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (asked[0] < 0) return;
    Row message = {static_cast<std::uint64_t>(asked[0])};
    const Row row = compute(n, asked[0], asked[1]);
    message.insert(message.end(), row.begin(), row.end());
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_UINT64_T, 0, row_tag,
             MPI_COMM_WORLD);
  }
}

void draw(long n, int ranks, long iterations, std::span<std::uint64_t> picture) {
  if (ranks > 1) return serve(n, ranks, iterations, picture);
  for (long y = 0; y < n; ++y) {
    const Row row = compute(n, y, iterations);
    std::copy(row.begin(), row.end(), &picture[static_cast<std::size_t>(y * n)]);
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
  const long first = argc > 3 ? std::atol(argv[3]) : iterations;
  if (n < 1 || n > 65'536 || first < 1 || iterations < first) {
    if (rank == 0) std::fprintf(stderr, "mandelbrot: want N [ITERATIONS [FIRST]]\n");
    MPI_Finalize();
    return 2;
  }
  if (rank != 0) {
    work(n);
  } else {
    // What is not drawn yet takes no memory.
    const auto size = static_cast<std::size_t>(n * n);
    const auto memory = std::make_unique_for_overwrite<std::uint64_t[]>(size);
    const std::span<std::uint64_t> picture(memory.get(), size);
    for (long limit = first;; limit = std::min(2 * limit, iterations)) {
      draw(n, ranks, limit, picture);
      if (limit == iterations) break;
      std::printf("iterations %ld\n", limit);
      std::fflush(stdout);
    }
    for (int other = 1; other < ranks; ++other) give(other, {-1, 0});
    std::uint64_t hash = 14695981039346656037u;
    for (const std::uint64_t count : picture) hash = (hash ^ count) * 1099511628211u;
    std::printf("hash %016llx\n", static_cast<unsigned long long>(hash));
  }
  MPI_Finalize();
  return 0;
}
