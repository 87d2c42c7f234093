#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../times.h"

/// An ordered farm of bytes as one writes it by hand with MPI: rank 0 reads items, the ranks
/// between work on them, the last rank takes the results in the order of their items.
///
/// An item goes to the worker that asks for one. Every worker has two requests on the way, so that
/// its next item arrives while it works, and nobody waits for a send to end before the buffer is
/// wanted again. Nothing here survives the loss of a process.
namespace mpi_farm {

using Message = std::vector<char>;

/// What a program brings. What it throws ends all ranks.
struct Program {
  virtual ~Program() = default;
  /// On rank 0: how long an item is at most. Before the first one.
  virtual std::uint64_t item_bytes_max() const = 0;
  /// On rank 0: appends the next item to `out`; false if there is none.
  virtual bool read(Message& out) = 0;
  /// On workers: appends the result to `out`. At most 1 GiB.
  virtual void work(std::string_view item, Message& out) = 0;
  /// On the last rank, in order.
  virtual void write(std::string_view result) = 0;
  virtual void finish() = 0;
};

// A message is the number of an item and its bytes; nothing at all is the end.
constexpr std::size_t header_bytes = sizeof(std::uint64_t);
constexpr int requests_per_worker = 2;
enum Tag { request_tag, item_tag, result_tag };

inline void set_number(Message& message, std::uint64_t number) {
  std::memcpy(message.data(), &number, sizeof number);
}
inline std::uint64_t number_of(const Message& message) {
  std::uint64_t number = 0;
  std::memcpy(&number, message.data(), sizeof number);
  return number;
}
inline int count_of(const Message& message) { return static_cast<int>(message.size()); }
inline std::string_view body_of(const Message& message, std::size_t bytes) {
  return std::string_view(message.data(), bytes).substr(header_bytes);
}

inline void read_and_send(Program& program, int workers) {
  // Twice as many as can be on the way, so that reading is ahead of the requests.
  std::vector<Message> buffers(2 * requests_per_worker * static_cast<std::size_t>(workers));
  std::vector<MPI_Request> sends(buffers.size(), MPI_REQUEST_NULL);
  int ends_to_send = requests_per_worker * workers;
  bool is_end = false;
  apps::started();
  for (std::uint64_t number = 0; ends_to_send > 0; ++number) {
    const std::size_t slot = number % buffers.size();
    MPI_Wait(&sends[slot], MPI_STATUS_IGNORE);
    Message& message = buffers[slot];
    message.resize(header_bytes);
    set_number(message, number);
    is_end = is_end || !program.read(message);
    if (is_end) message.clear();
    MPI_Status asked;
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, request_tag, MPI_COMM_WORLD, &asked);
    MPI_Isend(message.data(), count_of(message), MPI_BYTE, asked.MPI_SOURCE, item_tag,
              MPI_COMM_WORLD, &sends[slot]);
    if (is_end) ends_to_send -= 1;
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

inline void work_on_items(Program& program, std::size_t item_bytes_max, int sink) {
  Message items[requests_per_worker], results[requests_per_worker];
  MPI_Request receives[requests_per_worker], sends[requests_per_worker];
  const auto ask_for = [&](int slot) {
    MPI_Irecv(items[slot].data(), count_of(items[slot]), MPI_BYTE, 0, item_tag, MPI_COMM_WORLD,
              &receives[slot]);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, request_tag, MPI_COMM_WORLD);
  };
  for (int slot = 0; slot < requests_per_worker; ++slot) {
    items[slot].resize(header_bytes + item_bytes_max);
    sends[slot] = MPI_REQUEST_NULL;
    ask_for(slot);
  }
  // Items come in the order in which they were asked for, and so do the ends, after them.
  for (int slot = 0;; slot = (slot + 1) % requests_per_worker) {
    MPI_Status status;
    MPI_Wait(&receives[slot], &status);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes == 0) {
      MPI_Wait(&receives[(slot + 1) % requests_per_worker], MPI_STATUS_IGNORE);
      break;
    }
    MPI_Wait(&sends[slot], MPI_STATUS_IGNORE);
    results[slot].resize(header_bytes);
    set_number(results[slot], number_of(items[slot]));
    program.work(body_of(items[slot], static_cast<std::size_t>(bytes)), results[slot]);
    MPI_Isend(results[slot].data(), count_of(results[slot]), MPI_BYTE, sink, result_tag,
              MPI_COMM_WORLD, &sends[slot]);
    ask_for(slot);
  }
  MPI_Waitall(requests_per_worker, sends, MPI_STATUSES_IGNORE);
  MPI_Send(nullptr, 0, MPI_BYTE, sink, result_tag, MPI_COMM_WORLD);
}

inline void write_in_order(Program& program, int workers) {
  std::map<std::uint64_t, Message> early;
  std::uint64_t next = 0;
  for (int ended = 0; ended < workers;) {
    MPI_Message handle;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, result_tag, MPI_COMM_WORLD, &handle, &status);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Message result(static_cast<std::size_t>(bytes));
    MPI_Mrecv(result.data(), bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    if (bytes == 0) {
      ended += 1;
      continue;
    }
    early.emplace(number_of(result), std::move(result));
    for (auto at = early.begin(); at != early.end() && at->first == next; ++next) {
      program.write(body_of(at->second, at->second.size()));
      at = early.erase(at);
    }
  }
  if (!early.empty()) throw std::runtime_error("results are missing");
  program.finish();
  apps::ended(next);
}

/// The whole program, whose ranks all have a `P` made of the arguments.
template <class P>
int run(int argc, char** argv, const char* usage, int arguments) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != arguments + 1 || ranks < 3) {
    if (rank == 0) std::fprintf(stderr, "usage: mpirun -n WORKERS+2 %s\n", usage);
    MPI_Finalize();
    return 2;
  }
  try {
    P program(argv, rank == 0, rank == ranks - 1);
    std::uint64_t item_bytes_max = rank == 0 ? program.item_bytes_max() : 0;
    MPI_Bcast(&item_bytes_max, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      read_and_send(program, ranks - 2);
    } else if (rank == ranks - 1) {
      write_in_order(program, ranks - 2);
    } else {
      work_on_items(program, item_bytes_max, ranks - 1);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace mpi_farm
