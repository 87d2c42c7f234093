// Gathers and scatters.
#include <optional>

#include "coll/mpi/intercept.h"

using namespace piracema::coll;
using namespace piracema::coll::mpi;

namespace {

char* place(const void* buffer, MPI_Aint at, MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  must(PMPI_Type_get_extent(type, &low, &extent));
  return static_cast<char*>(const_cast<void*>(buffer)) + at * extent;
}

Part equal_parts(LargeCounts& large, const void* buffer, MPI_Count count, MPI_Datatype type) {
  return [=, &large](Rank rank) {
    return large.data(place(buffer, static_cast<MPI_Aint>(rank * count), type), count, type);
  };
}
template <class Count, class Place>
Part various_parts(LargeCounts& large, const void* buffer, const Count* counts, const Place* places,
                   MPI_Datatype type) {
  return [=, &large](Rank rank) {
    return large.data(place(buffer, places[rank], type), counts[rank], type);
  };
}

/// At the root, whose part is in both of its buffers.
void refuse_alias_at([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] int root,
                     [[maybe_unused]] const void* own, [[maybe_unused]] MPI_Count count,
                     [[maybe_unused]] const Part& part) {
#ifdef MPICH_VERSION
  int me = 0;
  must(PMPI_Comm_rank(comm, &me));
  if (me == root && own != MPI_IN_PLACE) {
    refuse_alias(own, part(static_cast<Rank>(me)).buffer, count);
  }
#endif
}

Data in_place_or(LargeCounts& large, const void* buffer, MPI_Count count, MPI_Datatype type) {
  if (buffer == MPI_IN_PLACE) return {};
  return large.data(buffer, count, type);
}

/// `parts` makes the root's.
template <class Native, class Parts>
int take_gather(const void* from, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                Parts parts, Native native) {
  seen.calls += 1;
  if (!is_root_of(comm, root)) return native();
  return guarded(comm, [&] {
    LargeCounts large;
    const Part part = parts(large);
    refuse_alias_at(comm, root, from, count, part);
    return collective(comm, Call::gather, 0, native, [&](Group& group) {
      gather(group, in_place_or(large, from, count, type), part, static_cast<Rank>(root));
    });
  });
}

template <class Native, class Parts>
int take_scatter(void* to, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, Parts parts,
                 Native native) {
  seen.calls += 1;
  if (!is_root_of(comm, root)) return native();
  return guarded(comm, [&] {
    LargeCounts large;
    const Part part = parts(large);
    refuse_alias_at(comm, root, to, count, part);
    return collective(comm, Call::scatter, 0, native, [&](Group& group) {
      scatter(group, part, in_place_or(large, to, count, type), static_cast<Rank>(root));
    });
  });
}

template <class Count>
std::optional<std::uint64_t> bytes_of_all(const Count* counts, int size, MPI_Datatype type) {
  std::uint64_t bytes = 0;
  for (int rank = 0; rank < size; ++rank) {
    if (counts[rank] < 0) return std::nullopt;
    bytes += bytes_of(counts[rank], type);
  }
  return bytes;
}

/// `bytes_in` says how many bytes a number of ranks have; nullopt if that makes no sense.
template <class Native, class Parts, class Bytes>
int take_all_gather(const void* from, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                    Parts parts, Bytes bytes_in, Native native) {
  return guarded(comm, [&] {
    int size = 0, me = 0;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &me);
    const std::optional<std::uint64_t> bytes = bytes_in(size);
    if (!bytes || *bytes == 0) return native();
    LargeCounts large;
    const Part part = parts(large);
    const Data mine =
        from == MPI_IN_PLACE ? part(static_cast<Rank>(me)) : large.data(from, count, type);
    refuse_alias_at(comm, me, from, count, part);
    return collective(comm, Call::all_gather, *bytes, native, [&](Group& group) {
      all_gather(group, mine, part, *bytes > small_bytes_max);
    });
  });
}

}  // namespace

extern "C" {

#define PIRACEMA_GATHERS(suffix, Count, Place)                                                    \
  int MPI_Gather##suffix(const void* from, Count count, MPI_Datatype type, void* to,              \
                         Count to_count, MPI_Datatype to_type, int root, MPI_Comm comm) {         \
    return take_gather(                                                                           \
        from, count, type, root, comm,                                                            \
        [&](LargeCounts& large) { return equal_parts(large, to, to_count, to_type); },            \
        [&] {                                                                                     \
          return PMPI_Gather##suffix(from, count, type, to, to_count, to_type, root, comm);       \
        });                                                                                       \
  }                                                                                               \
  int MPI_Gatherv##suffix(const void* from, Count count, MPI_Datatype type, void* to,             \
                          const Count* to_counts, const Place* places, MPI_Datatype to_type,      \
                          int root, MPI_Comm comm) {                                              \
    return take_gather(                                                                           \
        from, count, type, root, comm,                                                            \
        [&](LargeCounts& large) { return various_parts(large, to, to_counts, places, to_type); }, \
        [&] {                                                                                     \
          return PMPI_Gatherv##suffix(from, count, type, to, to_counts, places, to_type, root,    \
                                      comm);                                                      \
        });                                                                                       \
  }                                                                                               \
  int MPI_Scatter##suffix(const void* from, Count from_count, MPI_Datatype from_type, void* to,   \
                          Count count, MPI_Datatype type, int root, MPI_Comm comm) {              \
    return take_scatter(                                                                          \
        to, count, type, root, comm,                                                              \
        [&](LargeCounts& large) { return equal_parts(large, from, from_count, from_type); },      \
        [&] {                                                                                     \
          return PMPI_Scatter##suffix(from, from_count, from_type, to, count, type, root, comm);  \
        });                                                                                       \
  }                                                                                               \
  int MPI_Scatterv##suffix(const void* from, const Count* from_counts, const Place* places,       \
                           MPI_Datatype from_type, void* to, Count count, MPI_Datatype type,      \
                           int root, MPI_Comm comm) {                                             \
    return take_scatter(                                                                          \
        to, count, type, root, comm,                                                              \
        [&](LargeCounts& large) {                                                                 \
          return various_parts(large, from, from_counts, places, from_type);                      \
        },                                                                                        \
        [&] {                                                                                     \
          return PMPI_Scatterv##suffix(from, from_counts, places, from_type, to, count, type,     \
                                       root, comm);                                               \
        });                                                                                       \
  }                                                                                               \
  int MPI_Allgather##suffix(const void* from, Count count, MPI_Datatype type, void* to,           \
                            Count to_count, MPI_Datatype to_type, MPI_Comm comm) {                \
    const auto native = [&] {                                                                     \
      return PMPI_Allgather##suffix(from, count, type, to, to_count, to_type, comm);              \
    };                                                                                            \
    seen.calls += 1;                                                                              \
    if (!is_root_of(comm, 0) || !is_good(to_count, to_type)) return native();                     \
    return take_all_gather(                                                                       \
        from, count, type, comm,                                                                  \
        [&](LargeCounts& large) { return equal_parts(large, to, to_count, to_type); },            \
        [&](int size) -> std::optional<std::uint64_t> {                                           \
          return bytes_of(to_count, to_type) * static_cast<std::uint64_t>(size);                  \
        },                                                                                        \
        native);                                                                                  \
  }                                                                                               \
  int MPI_Allgatherv##suffix(const void* from, Count count, MPI_Datatype type, void* to,          \
                             const Count* to_counts, const Place* places, MPI_Datatype to_type,   \
                             MPI_Comm comm) {                                                     \
    const auto native = [&] {                                                                     \
      return PMPI_Allgatherv##suffix(from, count, type, to, to_counts, places, to_type, comm);    \
    };                                                                                            \
    seen.calls += 1;                                                                              \
    if (!is_root_of(comm, 0) || to_type == MPI_DATATYPE_NULL || to_counts == nullptr) {           \
      return native();                                                                            \
    }                                                                                             \
    return take_all_gather(                                                                       \
        from, count, type, comm,                                                                  \
        [&](LargeCounts& large) { return various_parts(large, to, to_counts, places, to_type); }, \
        [&](int size) { return bytes_of_all(to_counts, size, to_type); }, native);                \
  }
PIRACEMA_GATHERS(, int, int)
#if MPI_VERSION >= 4
PIRACEMA_GATHERS(_c, MPI_Count, MPI_Aint)
#endif
#undef PIRACEMA_GATHERS

}  // extern "C"
