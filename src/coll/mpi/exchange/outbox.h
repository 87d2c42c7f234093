#pragma once

#include <vector>

#include "coll/mpi/exchange/mpi_types.h"

namespace piracema::coll::mpi {

/// Sends that are under way, with the memory that they send from. Errors of MPI are thrown.
class Outbox {
 public:
  Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  /// What is still under way after an error keeps its memory for good.
  ~Outbox();
  /// One that sends from memory which outlives it.
  void add(MPI_Request request) { requests_.push_back(request); }
  /// One that sends from the memory of `bytes`.
  void add(MPI_Request request, std::vector<char> bytes);
  void wait();
  /// True if nothing is under way any more.
  bool test();

 private:
  std::vector<MPI_Request> requests_;
  std::vector<std::vector<char>> kept_;
};

}  // namespace piracema::coll::mpi
