// Communicators that come and go, threads on several, and those with two groups.
#include <thread>

#include "checks.h"

namespace {

void communicators_come_and_go() {
  doing = "communicators that come and go";
  for (int turn = 0; turn < 8; ++turn) {
    MPI_Comm copy, part;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(copy, me % 2, -me, &part);
    for (MPI_Comm comm : {copy, part, MPI_COMM_SELF}) {
      int rank, ranks;
      MPI_Comm_rank(comm, &rank);
      MPI_Comm_size(comm, &ranks);
      for (int i = 0; i < turn * 3; ++i) {
        int value = rank == i % ranks ? turn * 100 + i : -1;
        MPI_Bcast(&value, 1, MPI_INT, i % ranks, comm);
        check(value == turn * 100 + i, "another value than the root's");
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        check(sum == ranks * (ranks - 1) / 2, "not the sum");
      }
    }
    // Freed right behind operations in which nobody waits for all.
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
  }
}

// More than half of what MPICH has for a process.
void many_communicators_at_a_time() {
  doing = "many communicators at a time";
  std::vector<MPI_Comm> comms(1'200);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (std::size_t i = 0; i < comms.size(); ++i) {
    const int root = static_cast<int>(i) % size;
    int value = me == root ? static_cast<int>(i) : -1;
    MPI_Bcast(&value, 1, MPI_INT, root, comms[i]);
    check(value == static_cast<int>(i), "another value than the root's");
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void threads_on_several_communicators() {
  int level;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return;
  doing = "collectives of several threads";
  std::vector<MPI_Comm> comms(3);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<int> good(comms.size(), 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < comms.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        int value = me == i % size ? i * 7 + static_cast<int>(t) : -1, sum = 0;
        MPI_Bcast(&value, 1, MPI_INT, i % size, comms[t]);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
        good[t] += sum == size * (i * 7 + static_cast<int>(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : good) check(count == 60, "a value of another thread's collective");
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void an_intercommunicator_is_left_alone() {
  if (size < 2) return;
  doing = "broadcast over an intercommunicator";
  MPI_Comm half, inter;
  const bool left = me < size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, left, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? size / 2 : 0, 9, &inter);
  int value = me == 0 ? 77 : -1;
  const int root = left ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  MPI_Bcast(&value, 1, MPI_INT, root, inter);
  check(left || value == 77, "not the value of the other side");
  MPI_Barrier(inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace

void communicators() {
  communicators_come_and_go();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  many_communicators_at_a_time();
  threads_on_several_communicators();
  an_intercommunicator_is_left_alone();
}
