// Gathers and scatters.
#include "coll/mpi/intercept.h"

using namespace piracema::coll;
using namespace piracema::coll::mpi;

namespace {

char* place(const void* buffer, MPI_Aint at, MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  must(PMPI_Type_get_extent(type, &low, &extent));
  return static_cast<char*>(const_cast<void*>(buffer)) + at * extent;
}

Part equal_parts(const void* buffer, int count, MPI_Datatype type) {
  return [=](Rank rank) {
    return Data{place(buffer, static_cast<MPI_Aint>(rank) * count, type), count, type};
  };
}
Part various_parts(const void* buffer, const int* counts, const int* places, MPI_Datatype type) {
  return [=](Rank rank) { return Data{place(buffer, places[rank], type), counts[rank], type}; };
}

/// At the root, whose part is in both of its buffers.
void refuse_alias_at([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] int root,
                     [[maybe_unused]] const void* own, [[maybe_unused]] int count,
                     [[maybe_unused]] const Part& part) {
#ifdef MPICH_VERSION
  int me = 0;
  must(PMPI_Comm_rank(comm, &me));
  if (me == root && own != MPI_IN_PLACE) {
    refuse_alias(own, part(static_cast<Rank>(me)).buffer, count);
  }
#endif
}

Data in_place_or(const void* buffer, int count, MPI_Datatype type) {
  if (buffer == MPI_IN_PLACE) return {};
  return {const_cast<void*>(buffer), count, type};
}

}  // namespace

extern "C" {

int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm) {
  const auto native = [&] {
    return PMPI_Gather(from, count, type, to, to_count, to_type, root, comm);
  };
  if (!is_root_of(comm, root)) return native();
  return guarded(comm, [&] {
    const Part part = equal_parts(to, to_count, to_type);
    refuse_alias_at(comm, root, from, count, part);
    return collective(comm, Call::gather, 0, native, [&](Group& group) {
      gather(group, in_place_or(from, count, type), part, static_cast<Rank>(root));
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
    const Part part = various_parts(to, to_counts, places, to_type);
    refuse_alias_at(comm, root, from, count, part);
    return collective(comm, Call::gather, 0, native, [&](Group& group) {
      gather(group, in_place_or(from, count, type), part, static_cast<Rank>(root));
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
    const Part part = equal_parts(from, from_count, from_type);
    refuse_alias_at(comm, root, to, count, part);
    return collective(comm, Call::scatter, 0, native, [&](Group& group) {
      scatter(group, part, in_place_or(to, count, type), static_cast<Rank>(root));
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
    const Part part = various_parts(from, from_counts, places, from_type);
    refuse_alias_at(comm, root, to, count, part);
    return collective(comm, Call::scatter, 0, native, [&](Group& group) {
      scatter(group, part, in_place_or(to, count, type), static_cast<Rank>(root));
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
    refuse_alias_at(comm, me, from, count, part);
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
    refuse_alias_at(comm, me, from, count, part);
    return collective(comm, Call::all_gather, bytes, native, [&](Group& group) {
      all_gather(group, mine, part, bytes > small_bytes_max);
    });
  });
}

}  // extern "C"
