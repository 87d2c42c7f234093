#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// A farm as one writes it by hand with MPI, for the twins of `trivial` and `primes`: rank 0 gives
/// out the numbers from 1 to `numbers`, the ranks between work, the last rank takes the results.
///
/// A message holds `batch` numbers; 1 is the plain way. It goes to the worker that asks for one.
/// Each has two requests on the way, so that the next message arrives while it works, and results
/// leave from two buffers in turn. Nothing here survives the loss of a process.
namespace mpi_farm {

enum Tag { request_tag, numbers_tag, results_tag };
constexpr std::size_t on_the_way = 2;

inline void give_out(std::uint64_t numbers, std::size_t batch, int workers) {
  // Twice as many as can be on the way, so that filling is ahead of the requests.
  std::vector<std::vector<std::uint64_t>> buffers(2 * on_the_way *
                                                  static_cast<std::size_t>(workers));
  std::vector<MPI_Request> sends(buffers.size(), MPI_REQUEST_NULL);
  std::uint64_t next = 1;
  std::size_t ends = on_the_way * static_cast<std::size_t>(workers);
  for (std::size_t turn = 0; ends > 0; ++turn) {
    const std::size_t slot = turn % buffers.size();
    MPI_Wait(&sends[slot], MPI_STATUS_IGNORE);
    std::vector<std::uint64_t>& message = buffers[slot];
    message.clear();
    for (; message.size() < batch && next <= numbers; ++next) message.push_back(next);
    if (message.empty()) ends -= 1;
    MPI_Status asked;
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, request_tag, MPI_COMM_WORLD, &asked);
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_UINT64_T, asked.MPI_SOURCE,
              numbers_tag, MPI_COMM_WORLD, &sends[slot]);
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

template <class Work>
void work_on(std::size_t batch, int sink, Work work) {
  std::vector<std::uint64_t> numbers[on_the_way], results[on_the_way];
  MPI_Request receives[on_the_way], sends[on_the_way];
  const auto ask = [&](std::size_t slot) {
    numbers[slot].resize(batch);
    MPI_Irecv(numbers[slot].data(), static_cast<int>(batch), MPI_UINT64_T, 0, numbers_tag,
              MPI_COMM_WORLD, &receives[slot]);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, request_tag, MPI_COMM_WORLD);
  };
  for (std::size_t slot = 0; slot < on_the_way; ++slot) {
    sends[slot] = MPI_REQUEST_NULL;
    ask(slot);
  }
  std::size_t ends = 0;
  for (std::size_t slot = 0; ends < on_the_way; slot = (slot + 1) % on_the_way) {
    MPI_Status status;
    MPI_Wait(&receives[slot], &status);
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    if (count == 0) {
      ends += 1;
      continue;
    }
    MPI_Wait(&sends[slot], MPI_STATUS_IGNORE);
    results[slot].clear();
    for (int i = 0; i < count; ++i) {
      results[slot].push_back(work(numbers[slot][static_cast<std::size_t>(i)]));
    }
    MPI_Isend(results[slot].data(), count, MPI_UINT64_T, sink, results_tag, MPI_COMM_WORLD,
              &sends[slot]);
    ask(slot);
  }
  MPI_Waitall(static_cast<int>(on_the_way), sends, MPI_STATUSES_IGNORE);
  MPI_Send(nullptr, 0, MPI_UINT64_T, sink, results_tag, MPI_COMM_WORLD);
}

/// Returns the sum of all results, and in `count` how many there were.
inline std::uint64_t take(std::size_t batch, int workers, std::uint64_t& count) {
  std::vector<std::uint64_t> results(batch);
  std::uint64_t sum = 0;
  for (int ended = 0; ended < workers;) {
    MPI_Status status;
    MPI_Recv(results.data(), static_cast<int>(batch), MPI_UINT64_T, MPI_ANY_SOURCE, results_tag,
             MPI_COMM_WORLD, &status);
    int got = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &got);
    if (got == 0) ended += 1;
    for (int i = 0; i < got; ++i) sum += results[static_cast<std::size_t>(i)];
    count += static_cast<std::uint64_t>(got);
  }
  return sum;
}

/// The whole program, "NUMBERS BATCH": the last rank prints when the first rank began and it ended,
/// the number of results and their sum.
template <class Work>
int run(int argc, char** argv, Work work) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3 || ranks < 3) {
    if (rank == 0) std::fprintf(stderr, "want: mpirun -n WORKERS+2 %s NUMBERS BATCH\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  const auto numbers = static_cast<std::uint64_t>(std::atoll(argv[1]));
  const auto batch = static_cast<std::size_t>(std::max(1LL, std::atoll(argv[2])));
  const int workers = ranks - 2, sink = ranks - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (rank == 0) {
    give_out(numbers, batch, workers);
  } else if (rank == sink) {
    std::uint64_t count = 0;
    const std::uint64_t sum = take(batch, workers, count);
    std::printf("start %.9f\nend %.9f items %llu\nsum %llu\n", start, MPI_Wtime(),
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(sum));
  } else {
    work_on(batch, sink, work);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace mpi_farm
