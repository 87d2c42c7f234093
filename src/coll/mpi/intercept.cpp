// The functions that the program calls in place of the MPI library's. Each hands over to that one
// (PMPI_) what is not to be improved: wrong arguments, intercommunicators, what the plan says.
#include <cstdlib>
#include <new>

#include "coll/mpi/collectives.h"
#include "coll/mpi/mpi_types.h"
#include "coll/mpi/world.h"

namespace piracema::coll::mpi {

namespace {

/// Whether a root is one, and counts and types can be asked for their size.
bool is_root_of(MPI_Comm comm, int root) {
  int size = 0, inter = 0;
  if (comm == MPI_COMM_NULL || World::get() == nullptr) return false;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return false;
  return PMPI_Comm_size(comm, &size) == MPI_SUCCESS && root >= 0 && root < size;
}
bool is_good(int count, MPI_Datatype type) { return count >= 0 && type != MPI_DATATYPE_NULL; }

char* place(const void* buffer, MPI_Aint at, MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  must(PMPI_Type_get_extent(type, &low, &extent));
  return static_cast<char*>(const_cast<void*>(buffer)) + at * extent;
}

/// Errors go to the error handler of the program's communicator.
template <class Work>
int guarded(MPI_Comm comm, Work work) {
  try {
    return work();
  } catch (const MpiError& error) {
    PMPI_Comm_call_errhandler(comm, error.code);
    return error.code;
  } catch (const std::bad_alloc&) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
}

/// Runs a collective the way that the plan says, and measures it. `bytes`, and all else that the
/// way depends on, are the same at every rank.
template <class Native, class Ours>
int collective(MPI_Comm comm, Call call, std::uint64_t bytes, Native native, Ours ours) {
  World* world = World::get();
  if (world == nullptr || comm == MPI_COMM_NULL) return native();
  // The paper's engine broadcasts, and leaves the rest alone.
  if (world->settings().engine == Engine::mst && call != Call::broadcast) return native();
  Group* group = Group::of(*world, comm);
  if (group == nullptr) return native();
  const Way way = group->begin_operation(call, bytes);
  const Time began = now();
  int code = MPI_SUCCESS;
  // The MPI library's own knows nothing of emulated links: a binomial tree of ours stands for it.
  if (way == Way::theirs && world->emulator() == nullptr) {
    code = native();
  } else {
    ours(*group);
  }
  group->end_operation(now() - began);
  return code;
}

/// What makes no sense is said when MPI is there to end the job.
bool wants_threads() {
  const auto settings = read_settings([](const char* name) { return std::getenv(name); });
  return settings.ok() && settings->nonblocking;
}

Part equal_parts(const void* buffer, int count, MPI_Datatype type) {
  return [=](Rank rank) {
    return Data{place(buffer, static_cast<MPI_Aint>(rank) * count, type), count, type};
  };
}
Part various_parts(const void* buffer, const int* counts, const int* places, MPI_Datatype type) {
  return [=](Rank rank) { return Data{place(buffer, places[rank], type), counts[rank], type}; };
}

Data in_place_or(const void* buffer, int count, MPI_Datatype type) {
  if (buffer == MPI_IN_PLACE) return {};
  return {const_cast<void*>(buffer), count, type};
}

}  // namespace

}  // namespace piracema::coll::mpi

using namespace piracema::coll;
using namespace piracema::coll::mpi;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  int provided = 0;
  const int code = wants_threads() ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                                   : PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) World::begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
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

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const auto native = [&] { return PMPI_Reduce(from, to, count, type, op, root, comm); };
  if (!is_root_of(comm, root) || !is_good(count, type) || op == MPI_OP_NULL) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of({nullptr, count, type});
    if (bytes == 0) return native();
    const void* mine = from == MPI_IN_PLACE ? to : from;
    return collective(comm, Call::reduce, bytes, native, [&](Group& group) {
      reduce(group, {mine, to, count, type, op}, static_cast<Rank>(root));
    });
  });
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const auto native = [&] { return PMPI_Allreduce(from, to, count, type, op, comm); };
  if (!is_root_of(comm, 0) || !is_good(count, type) || op == MPI_OP_NULL) return native();
  return guarded(comm, [&] {
    const std::uint64_t bytes = bytes_of({nullptr, count, type});
    if (bytes == 0) return native();
    return collective(comm, Call::all_reduce, bytes, native, [&](Group& group) {
      all_reduce(group, {from == MPI_IN_PLACE ? to : from, to, count, type, op});
    });
  });
}

int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm) {
  const auto native = [&] {
    return PMPI_Gather(from, count, type, to, to_count, to_type, root, comm);
  };
  if (!is_root_of(comm, root)) return native();
  return guarded(comm, [&] {
    return collective(comm, Call::gather, 0, native, [&](Group& group) {
      gather(group, in_place_or(from, count, type), equal_parts(to, to_count, to_type),
             static_cast<Rank>(root));
    });
  });
}

int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* to, const int* to_counts,
                const int* places, MPI_Datatype to_type, int root, MPI_Comm comm) {
  const auto native = [&] {
    return PMPI_Gatherv(from, count, type, to, to_counts, places, to_type, root, comm);
  };
  if (!is_root_of(comm, root)) return native();
  return guarded(comm, [&] {
    return collective(comm, Call::gather, 0, native, [&](Group& group) {
      gather(group, in_place_or(from, count, type), various_parts(to, to_counts, places, to_type),
             static_cast<Rank>(root));
    });
  });
}

int MPI_Scatter(const void* from, int from_count, MPI_Datatype from_type, void* to, int count,
                MPI_Datatype type, int root, MPI_Comm comm) {
  const auto native = [&] {
    return PMPI_Scatter(from, from_count, from_type, to, count, type, root, comm);
  };
  if (!is_root_of(comm, root)) return native();
  return guarded(comm, [&] {
    return collective(comm, Call::scatter, 0, native, [&](Group& group) {
      scatter(group, equal_parts(from, from_count, from_type), in_place_or(to, count, type),
              static_cast<Rank>(root));
    });
  });
}

int MPI_Scatterv(const void* from, const int* from_counts, const int* places,
                 MPI_Datatype from_type, void* to, int count, MPI_Datatype type, int root,
                 MPI_Comm comm) {
  const auto native = [&] {
    return PMPI_Scatterv(from, from_counts, places, from_type, to, count, type, root, comm);
  };
  if (!is_root_of(comm, root)) return native();
  return guarded(comm, [&] {
    return collective(comm, Call::scatter, 0, native, [&](Group& group) {
      scatter(group, various_parts(from, from_counts, places, from_type),
              in_place_or(to, count, type), static_cast<Rank>(root));
    });
  });
}

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
  const auto native = [&] {
    return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
  };
  if (!is_root_of(comm, 0) || !is_good(to_count, to_type)) return native();
  return guarded(comm, [&] {
    int size = 0, me = 0;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &me);
    const std::uint64_t bytes =
        bytes_of({nullptr, to_count, to_type}) * static_cast<std::uint64_t>(size);
    if (bytes == 0) return native();
    const Part part = equal_parts(to, to_count, to_type);
    Data mine = in_place_or(from, count, type);
    if (from == MPI_IN_PLACE) mine = part(static_cast<Rank>(me));
    return collective(comm, Call::all_gather, bytes, native, [&](Group& group) {
      all_gather(group, mine, part, bytes > small_bytes_max);
    });
  });
}

int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int* to_counts,
                   const int* places, MPI_Datatype to_type, MPI_Comm comm) {
  const auto native = [&] {
    return PMPI_Allgatherv(from, count, type, to, to_counts, places, to_type, comm);
  };
  if (!is_root_of(comm, 0) || to_type == MPI_DATATYPE_NULL || to_counts == nullptr) {
    return native();
  }
  return guarded(comm, [&] {
    int size = 0, me = 0;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &me);
    std::uint64_t bytes = 0;
    for (int rank = 0; rank < size; ++rank) {
      if (to_counts[rank] < 0) return native();
      bytes += bytes_of({nullptr, to_counts[rank], to_type});
    }
    if (bytes == 0) return native();
    const Part part = various_parts(to, to_counts, places, to_type);
    Data mine = in_place_or(from, count, type);
    if (from == MPI_IN_PLACE) mine = part(static_cast<Rank>(me));
    return collective(comm, Call::all_gather, bytes, native, [&](Group& group) {
      all_gather(group, mine, part, bytes > small_bytes_max);
    });
  });
}

}  // extern "C"
