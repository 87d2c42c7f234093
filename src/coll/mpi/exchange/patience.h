#pragma once

#include "base/clock.h"

namespace piracema::coll::mpi {

class Exchange;

/// What a rank does that has nothing to do but to wait: after a while it leaves the core to others,
/// and every second it looks whether it waits in vain (`Exchange::expect_no_strays`).
class Patience {
 public:
  explicit Patience(const Exchange& exchange) : exchange_(exchange) {}
  void wait();

 private:
  const Exchange& exchange_;
  int polls_ = 0;
  Time look_at_{};
};

}  // namespace piracema::coll::mpi
