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

inline int as_int(std::size_t value) { return static_cast<int>(value); }

}  // namespace piracema::coll::mpi
