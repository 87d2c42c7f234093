#include "coll/mpi/exchange/incoming.h"

#include <algorithm>

#include "coll/mpi/exchange/exchange.h"

namespace piracema::coll::mpi {

Incoming::Incoming(Exchange& exchange, Rank from, std::uint32_t operation, Data into,
                   const Stamp& stamp)
    : stamp_(stamp) {
  must(PMPI_Irecv(into.buffer, into.count, into.type, static_cast<int>(from),
                  tag(operation, Kind::data).value, exchange.comm(), &requests_[1]));
}

Incoming::Incoming(Exchange& exchange, Rank from, std::uint32_t operation, Data into)
    : Incoming(exchange, from, operation, into, Stamp{}) {
  must(PMPI_Irecv(&stamp_, sizeof stamp_, MPI_BYTE, static_cast<int>(from),
                  tag(operation, Kind::stamp).value, exchange.comm(), &requests_[0]));
}

Incoming::~Incoming() {
  // After an error alone.
  for (MPI_Request& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
}

bool Incoming::ready() {
  if (came_at_ == Time{}) {
    for (MPI_Request& request : requests_) {
      int there = 0;
      must(PMPI_Test(&request, &there, MPI_STATUS_IGNORE));
      if (there == 0) return false;
    }
    came_at_ = std::max(now(), Time(stamp_.visible_at));
  }
  return stamp_.visible_at == 0 || now() >= came_at_;
}

}  // namespace piracema::coll::mpi
