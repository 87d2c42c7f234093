#pragma once

// The C interface alone; the MPI libraries' old C++ ones are not wanted.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <piracema/error.h>

#include <cstdint>
#include <vector>

#include "topology/trees/costs.h"

/// The library that is preloaded under an MPI program. Everything here calls PMPI_ functions alone,
/// on communicators of its own.
namespace piracema::coll::mpi {

/// An MPI error code on its way to the caller; thrown inside of the library, caught at its door.
struct MpiError {
  int code;
};
inline void must(int code) {
  if (code != MPI_SUCCESS) throw MpiError{code};
}

/// Whether it is a type of MPI's own. Others may have their parts in any order, and may be freed.
inline bool is_named(MPI_Datatype type) {
  int combiner = 0;
#if MPI_VERSION >= 4
  // The older call fails on types that were made with large counts.
  MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
  must(PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner));
#else
  int integers = 0, addresses = 0, types = 0;
  must(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
#endif
  return combiner == MPI_COMBINER_NAMED;
}

inline int as_int(std::size_t value) { return static_cast<int>(value); }

}  // namespace piracema::coll::mpi
