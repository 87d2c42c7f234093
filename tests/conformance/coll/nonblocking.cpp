// Nonblocking broadcasts: requests like any other, and relays that do something else meanwhile.
#include <thread>

#include "checks.h"

namespace {

void many_at_once(MPI_Comm comm) {
  doing = "broadcasts under way";
  const std::vector<std::size_t> sizes{1, 500, 9'000, 200'000, 0, 3};
  std::vector<std::vector<unsigned char>> buffers;
  std::vector<MPI_Request> requests;
  int told = -1;
  MPI_Request other;
  MPI_Irecv(&told, 1, MPI_INT, (me + size - 1) % size, 11, comm, &other);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int root = static_cast<int>(i) % size;
    buffers.push_back(me == root ? bytes_of(root, sizes[i])
                                 : std::vector<unsigned char>(sizes[i], 0));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    requests.push_back(MPI_REQUEST_NULL);
    MPI_Ibcast(buffers[i].data(), static_cast<int>(sizes[i]), MPI_BYTE, static_cast<int>(i) % size,
               comm, &requests.back());
  }
  requests.push_back(other);
  MPI_Send(&me, 1, MPI_INT, (me + 1) % size, 11, comm);
  // In whatever order they end.
  for (std::size_t i = 0; i < requests.size(); ++i) {
    int which = -1;
    MPI_Status status;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &which, &status);
    check(which != MPI_UNDEFINED, "a request that has ended is there twice");
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto wanted = bytes_of(static_cast<int>(i) % size, sizes[i]);
    check(buffers[i] == wanted, "other bytes than the root's");
  }
  check(told == (me + size - 1) % size, "not the neighbour's number");
}

void a_relay_waits_for_something_else(MPI_Comm comm) {
  doing = "a broadcast while this rank waits for a message";
  for (int turn = 0; turn < 10; ++turn) {
    int value = me == 0 ? turn : -1, answer = -1;
    MPI_Request request;
    MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request);
    // Who is last says that it has it; before that the others do not ask for theirs.
    if (me == size - 1) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int rank = 0; rank < me; ++rank) MPI_Send(&value, 1, MPI_INT, rank, 12, comm);
    } else {
      MPI_Recv(&answer, 1, MPI_INT, size - 1, 12, comm, MPI_STATUS_IGNORE);
      check(answer == turn, "not what the last one has");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check(value == turn, "another value than the root's");
  }
}

void tested_until_it_ends(MPI_Comm comm) {
  doing = "a broadcast that is tested";
  MPI_Datatype every_third;
  MPI_Type_vector(30'000, 1, 3, MPI_INT, &every_third);
  MPI_Type_commit(&every_third);
  std::vector<int> values(90'000, -1);
  for (std::size_t i = 0; me == size - 1 && i < values.size(); ++i) values[i] = static_cast<int>(i);
  MPI_Request request;
  MPI_Ibcast(values.data(), 1, every_third, size - 1, comm, &request);
  MPI_Type_free(&every_third);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::yield();
  }
  check(request == MPI_REQUEST_NULL, "the request is still there");
  bool right = true;
  for (std::size_t i = 0; i < values.size(); i += 3)
    right = right && values[i] == static_cast<int>(i);
  check(right && values[1] == (me == size - 1 ? 1 : -1), "not what the type says");
}

void between_others(MPI_Comm comm) {
  doing = "broadcasts of both kinds";
  std::vector<int> values(40, -1);
  std::vector<MPI_Request> requests(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int root = static_cast<int>(i) % size;
    if (me == root) values[i] = static_cast<int>(i);
    MPI_Ibcast(&values[i], 1, MPI_INT, root, comm, &requests[i]);
    if (i % 3 != 0) continue;
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(sum == size, "not the sum");
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < values.size(); ++i) {
    check(values[i] == static_cast<int>(i), "the value of another broadcast");
  }
}

}  // namespace

void nonblocking_broadcasts(MPI_Comm comm) {
  many_at_once(comm);
  a_relay_waits_for_something_else(comm);
  tested_until_it_ends(comm);
  between_others(comm);
}
