// What MPI forbids: errors where there can be any, and an end in every case.
//
//   coll_misuse counts|more
//
// With the library preloaded and engine tree. Prints "as wanted" where it comes to its end.
#include <cstdio>
#include <cstring>

#include "checks.h"

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

/// Rank 0 calls broadcasts that nobody else does. MPI_Finalize completes.
void more_than_others() {
  int value = 1;
  for (int i = 0; i < 20; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; me == 0 && i < 20; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  answer_who_asks();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "counts") counts_that_differ();
  if (what == "more") more_than_others();
  MPI_Finalize();
  if (wrong == 0) std::printf("rank %d: as wanted\n", me);
  return wrong == 0 ? 0 : 1;
}
