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

template <class Native>
int take_broadcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                   Native native) {
  seen.calls += 1;
  if (!is_root_of(comm, root) || !is_good(count, type)) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of(count, type);
    if (bytes == 0) return native();
    LargeCounts large;
    const Data data = large.data(buffer, count, type);
    return collective(comm, Call::broadcast, bytes, native,
                      [&](Group& group) { broadcast(group, data, static_cast<Rank>(root)); });
  });
}

template <class Native>
int take_nonblocking(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                     MPI_Request* request, Native native) {
  seen.calls += 1;
  if (!is_root_of(comm, root) || !is_good(count, type) || request == nullptr) return native();
  return guarded(comm, [&] {
    World* world = World::get();
    const std::uint64_t bytes = bytes_of(count, type);
    if (world->progress() == nullptr || bytes == 0) return native();
    // One that is not there yet would have to be made together with all others.
    Group* group = Group::find(*world, comm);
    if (group == nullptr) return native();
    seen.intercepted += 1;
    const auto operation = group->windows().begin_nonblocking(bytes);
    if (!operation) return native();
    seen.ours += 1;
    LargeCounts large;
    *request = world->progress()->start(*group, *operation, large.data(buffer, count, type),
                                        static_cast<Rank>(root));
    return MPI_SUCCESS;
  });
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

#define PIRACEMA_BROADCAST(suffix, Count)                                                        \
  int MPI_Bcast##suffix(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm) { \
    return take_broadcast(buffer, count, type, root, comm,                                       \
                          [&] { return PMPI_Bcast##suffix(buffer, count, type, root, comm); });  \
  }                                                                                              \
  int MPI_Ibcast##suffix(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm,  \
                         MPI_Request* request) {                                                 \
    return take_nonblocking(buffer, count, type, root, comm, request, [&] {                      \
      return PMPI_Ibcast##suffix(buffer, count, type, root, comm, request);                      \
    });                                                                                          \
  }
PIRACEMA_BROADCAST(, int)
#if MPI_VERSION >= 4
PIRACEMA_BROADCAST(_c, MPI_Count)
#endif
#undef PIRACEMA_BROADCAST

int MPI_Barrier(MPI_Comm comm) {
  seen.calls += 1;
  return guarded(comm, [&] {
    return collective(
        comm, Call::barrier, 0, [&] { return PMPI_Barrier(comm); }, barrier);
  });
}

}  // extern "C"
