#pragma once

#include <map>

#include "base/random.h"
#include "sim/smr/errand.h"
#include "sim/smr/machine.h"
#include "smr/request.h"

namespace piracema::smr_sim {

class World;

/// Reads, writes and lends whatever comes to its mind (machine.h).
class MapErrand final : public Errand {
 public:
  MapErrand(World& world, smr::ClientId client, Random& random)
      : world_(world), client_(client), random_(random) {}

  Wish next(std::uint32_t number) override;
  void answered(std::size_t ticket, Bytes reply) override;
  void abandoned(std::size_t ticket) override;

 private:
  Op next_op(std::uint32_t number);

  World& world_;
  const smr::ClientId client_;
  Random& random_;
  /// One at a time for each client: a lease's holder knows what it does.
  bool lease_open_ = false;
  /// Tickets of operations on leases that are open.
  std::map<std::size_t, bool> is_lease_;
};

}  // namespace piracema::smr_sim
