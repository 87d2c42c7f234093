#pragma once

#include <vector>

#include "coll/mpi/exchange/exchange.h"
#include "coll/mpi/exchange/outbox.h"

namespace piracema::coll::mpi {

/// Which ranks of a communicator call no more operations: rank 0 knows it of all, the others of
/// rank 0. Errors of MPI are thrown.
class Departures {
 public:
  /// `exchange` outlives it.
  explicit Departures(Exchange& exchange) : exchange_(exchange), left_(exchange.size(), false) {}

  /// Tells the others that this rank leaves, so that they do not wait for it.
  void leave();
  /// They have been told.
  bool all_sent() { return under_way_.test(); }
  bool has_left(Rank rank);
  /// Of those that are known of.
  bool all_have_left();

 private:
  Exchange& exchange_;
  Outbox under_way_;
  std::vector<bool> left_;
};

}  // namespace piracema::coll::mpi
