#include "coll/mpi/exchange/outbox.h"

#include <utility>

namespace piracema::coll::mpi {

Outbox::~Outbox() {
  if (!requests_.empty()) new std::vector<std::vector<char>>(std::move(kept_));
}

void Outbox::add(MPI_Request request, std::vector<char> bytes) {
  requests_.push_back(request);
  kept_.push_back(std::move(bytes));
}

void Outbox::wait() {
  must(PMPI_Waitall(as_int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  requests_.clear();
  kept_.clear();
}

bool Outbox::test() {
  if (requests_.empty()) return true;
  int all = 0;
  must(PMPI_Testall(as_int(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE));
  if (all == 0) return false;
  requests_.clear();
  kept_.clear();
  return true;
}

}  // namespace piracema::coll::mpi
