#pragma once

#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "sim/smr/errand.h"
#include "sim/smr/lock_oracle.h"
#include "smr/request.h"

namespace piracema::smr_sim {

class World;

/// A client of the key-value map as a control plane would be one: it makes a lease, puts a lock
/// under it, writes what the lock protects with its token, and goes on doing so when it does not
/// know that it has lost the lock. One operation at a time.
class LockErrand final : public Errand {
 public:
  LockErrand(World& world, smr::ClientId client, Random& random);

  Wish next(std::uint32_t number) override;
  void answered(std::size_t ticket, Bytes reply) override;
  void abandoned(std::size_t ticket) override;

 private:
  enum class Doing { grant, keep, lock, write, read, unlock, revoke, expire, watch };
  struct Asked {
    Doing doing = Doing::grant;
    Time at{};
    /// All that was acknowledged to anybody when it was asked.
    smr::kv::Index floor = 0;
    std::uint64_t value = 0;
  };

  Doing choose();
  Buffer operation(Doing doing);
  /// It believes in its lease until then.
  Time trusted(Time asked) const { return asked + ttl_ * 9 / 10; }
  void lose_all();
  void ended(std::string_view what);
  void locked(smr::kv::Index token);

  World& world_;
  LockOracle& oracle_;
  const smr::ClientId client_;
  Random& random_;
  Asked asked_;
  Time ttl_{};
  smr::kv::Index lease_ = 0, token_ = 0, watched_ = 0;
  /// In true time.
  Time lease_until_{};
};

}  // namespace piracema::smr_sim
