#include "coll/mpi/exchange/message.h"

namespace piracema::coll::mpi {

std::uint64_t bytes_of(const Data& data) {
  MPI_Count size = 0;
  must(PMPI_Type_size_x(data.type, &size));
  return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(data.count);
}

}  // namespace piracema::coll::mpi
