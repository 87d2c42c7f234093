// The beginning and the end of MPI, broadcasts and barriers.
#include "coll/mpi/intercept.h"

#include <cstdlib>

using namespace piracema::coll;
using namespace piracema::coll::mpi;

namespace {

/// What makes no sense is said when MPI is there to end the job.
bool wants_threads() {
  const auto settings = read_settings([](const char* name) { return std::getenv(name); });
  return settings.ok() && settings->nonblocking;
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  World::expect_own_mpi();
  int provided = 0;
  const int code = wants_threads() ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                                   : PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) World::begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  World::expect_own_mpi();
  if (wants_threads()) required = MPI_THREAD_MULTIPLE;
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) World::begin();
  return code;
}

int MPI_Finalize() {
  // Whatever goes wrong with ours, the program's end is the MPI library's.
  try {
    World::end();
  } catch (const MpiError&) {
  }
  return PMPI_Finalize();
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const auto native = [&] { return PMPI_Bcast(buffer, count, type, root, comm); };
  if (!is_root_of(comm, root) || !is_good(count, type)) return native();
  return guarded(comm, [&] {
    const Data data{buffer, count, type};
    const std::uint64_t bytes = bytes_of(data);
    if (bytes == 0) return native();
    return collective(comm, Call::broadcast, bytes, native,
                      [&](Group& group) { broadcast(group, data, static_cast<Rank>(root)); });
  });
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  const auto native = [&] { return PMPI_Ibcast(buffer, count, type, root, comm, request); };
  if (!is_root_of(comm, root) || !is_good(count, type) || request == nullptr) return native();
  return guarded(comm, [&] {
    World* world = World::get();
    const Data data{buffer, count, type};
    const std::uint64_t bytes = bytes_of(data);
    if (world->progress() == nullptr || bytes == 0) return native();
    // One that is not there yet would have to be made together with all others.
    Group* group = Group::find(*world, comm);
    if (group == nullptr) return native();
    const auto operation = group->begin_nonblocking(bytes);
    if (!operation) return native();
    *request = world->progress()->start(*group, *operation, data, static_cast<Rank>(root));
    return MPI_SUCCESS;
  });
}

int MPI_Barrier(MPI_Comm comm) {
  return guarded(comm, [&] {
    return collective(
        comm, Call::barrier, 0, [&] { return PMPI_Barrier(comm); }, barrier);
  });
}

}  // extern "C"
