#pragma once

#include "base/clock.h"
#include "coll/mpi/exchange/message.h"

namespace piracema::coll::mpi {

class Exchange;

/// Data that is awaited from one rank, into memory that outlives this. Errors of MPI are thrown.
class Incoming {
 public:
  Incoming(Exchange&, Rank from, std::uint32_t operation, Data into);
  /// One whose stamp has come already.
  Incoming(Exchange&, Rank from, std::uint32_t operation, Data into, const Stamp&);
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
  ~Incoming();
  /// All of it is there, and visible.
  bool ready();
  const Stamp& stamp() const { return stamp_; }
  /// When it was; by this machine's clock.
  Time came_at() const { return came_at_; }

 private:
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Stamp stamp_;
  Time came_at_{};
};

}  // namespace piracema::coll::mpi
