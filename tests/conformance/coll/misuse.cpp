// What MPI forbids: errors where there can be any, and an end in every case.
//
//   coll_misuse counts|more|many-more|root-more|order|freed|lost-link
//
// With the library preloaded and engine tree. Prints "as wanted" where it comes to its end.
#include <cstdio>
#include <cstring>

#include "checks.h"

namespace {

/// From here on nothing can be sent to this rank any more.
int lost_rank = -1;

}  // namespace

/// The library sends by this name, and finds it here first: MPI with a link that can be lost.
extern "C" int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  if (to == lost_rank) return MPI_ERR_OTHER;
  return MPI_Isend(buffer, count, type, to, tag, comm, request);
}

namespace {

int class_of(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

/// The last rank expects less than the root sends, or more; the others are none the worse for it.
void counts_that_differ() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const int bytes : {100, 200'000}) {
    for (const int expected : {bytes / 2, 2 * bytes}) {
      doing = "broadcast of " + std::to_string(bytes) + " bytes as " + std::to_string(expected);
      const auto sent = bytes_of(0, static_cast<std::size_t>(bytes));
      auto buffer = sent;
      if (me != 0) std::memset(buffer.data(), 0, buffer.size());
      buffer.resize(2 * sent.size());
      const bool differs = me == size - 1;
      const int code =
          MPI_Bcast(buffer.data(), differs ? expected : bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
      check(class_of(code) == (differs ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "another error");
      buffer.resize(sent.size());
      check(differs || buffer == sent, "other bytes than the root's");
    }
  }
  doing = "the next one";
  int value = me == 0 ? 5 : 0;
  check(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS && value == 5, "value");
}

/// One rank calls broadcasts that nobody else does. Its sends find room, and MPI_Finalize
/// completes.
void more_than_others(int rank, int count) {
  int value = 1;
  for (int i = 0; i < 20; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; me == rank && i < count; ++i) {
    MPI_Bcast(&value, 1, MPI_INT, rank, MPI_COMM_WORLD);
  }
}

/// Two broadcasts in one order at the first rank, in the other at the rest: each of these either
/// works, which MPI leaves open, or is an error; nobody waits.
void another_order() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int value = 1, errors = 0;
  for (int i = 0; i < 2; ++i) {
    const int root = me == 0 ? i : 1 - i;
    const int code = MPI_Bcast(&value, 1, MPI_INT, root, comm);
    check(code == MPI_SUCCESS || class_of(code) == MPI_ERR_OTHER, "another error");
    errors += code != MPI_SUCCESS;
  }
  // The first two are roots when others call something else; who finds out tells all.
  check(me > 1 || errors > 0, "no error");
}

/// Communicators that are none any more.
void freed_communicators() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int value = me == 0 ? 5 : 0, sum = 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  MPI_Comm_free(&comm);
  check(class_of(MPI_Bcast(&value, 1, MPI_INT, 0, comm)) == MPI_ERR_COMM, "broadcast");
  check(class_of(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_COMM, "sum");
  check(class_of(MPI_Barrier(comm)) == MPI_ERR_COMM, "barrier");
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request);
  check(class_of(code) == MPI_ERR_COMM, "nonblocking broadcast");
  check(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS && value == 5, "the next");
}

MPI_Comm handled = MPI_COMM_NULL;
int handler_calls = 0;
extern "C" void on_error(MPI_Comm* comm, int* code, ...) {
  handler_calls += *comm == handled && class_of(*code) == MPI_ERR_OTHER;
}

/// MPI says that nothing can be sent over a link any more: the program's own handler hears of it,
/// for the program's own communicator. Then the default one ends the job.
void lost_link() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &handled);
  MPI_Comm_set_errhandler(handled, handler);
  int value = 1;
  for (int i = 0; i < 50; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, handled);
  // Others have nobody to hear from, and wait until the job ends.
  if (me == 0) {
    lost_rank = size - 1;
    int code = MPI_SUCCESS, tries = 0;
    // Its tree may go over another rank.
    while (code == MPI_SUCCESS && ++tries < 50) code = MPI_Bcast(&value, 1, MPI_INT, 0, handled);
    check(class_of(code) == MPI_ERR_OTHER, "no error");
    check(handler_calls == 1, "the handler was not called once");
    if (wrong == 0) std::printf("rank %d: as wanted\n", me);
    std::fflush(stdout);
  }
  while (true) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  answer_who_asks();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "counts") counts_that_differ();
  if (what == "more") more_than_others(0, 20);
  if (what == "many-more") more_than_others(0, 6'000);
  if (what == "root-more") more_than_others(1, 2'000);
  if (what == "order") another_order();
  if (what == "freed") freed_communicators();
  if (what == "lost-link") lost_link();
  MPI_Finalize();
  if (wrong == 0) std::printf("rank %d: as wanted\n", me);
  return wrong == 0 ? 0 : 1;
}
