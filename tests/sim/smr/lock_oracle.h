#pragma once

#include <piracema/smr/key_value.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "smr/ids.h"

namespace piracema::smr_sim {

/// Knows what must never be among clients that lock the key-value map (lock_errand.h): two that
/// trust to hold the lock at one true time, a token that is used twice or after a newer one, a
/// read that misses what was acknowledged, a watch that passes something by.
///
/// Every reply tells its place in the order, so nothing has to be searched for.
class LockOracle {
 public:
  using Complain = std::function<void(const std::string&)>;
  /// `clocks_jump`: leases may end early, then; tokens protect all the same.
  LockOracle(const Time& now, bool clocks_jump, Complain complain)
      : now_(now), clocks_jump_(clocks_jump), complain_(std::move(complain)) {}

  void complain(const std::string& what) { complain_(what); }

  /// The last place that was acknowledged to anybody.
  smr::kv::Index floor() const { return floor_; }
  /// An operation that was asked when `floor` was acknowledged has this place.
  void seen(smr::kv::Index index, smr::kv::Index floor);

  /// The client has put the lock, with this token.
  void acquired(smr::ClientId client, smr::kv::Index token);
  /// From now on it trusts to hold it, until then in true time.
  void holds(smr::ClientId client, smr::kv::Index token, Time until);
  void lets_go(smr::ClientId client);
  void ended_early(const std::string& what);

  void written(smr::kv::Index index, smr::kv::Index token, std::uint64_t value);
  void perhaps_written(std::uint64_t value) { perhaps_.insert(value); }
  /// 0: there was nothing.
  void read(smr::kv::Index index, std::uint64_t value);
  void watched(smr::kv::Index from, const smr::kv::Reply& reply);

  /// When all is over.
  void judge();
  /// Locks that were acquired: a run without any shows nothing.
  std::size_t acquisitions() const { return tokens_.size(); }

 private:
  struct Belief {
    smr::ClientId client = 0;
    smr::kv::Index token = 0;
    Time from{}, until{};
  };
  struct Written {
    smr::kv::Index token = 0;
    std::uint64_t value = 0;
  };
  struct Read {
    smr::kv::Index index = 0;
    std::uint64_t value = 0;
  };
  struct Watched {
    smr::kv::Index from = 0, to = 0;
    std::set<smr::kv::Index> puts;
  };

  const Time& now_;
  const bool clocks_jump_;
  const Complain complain_;
  smr::kv::Index floor_ = 0;
  std::vector<Belief> beliefs_;
  std::map<smr::kv::Index, smr::ClientId> tokens_;
  std::map<smr::kv::Index, Written> written_;
  std::set<std::uint64_t> perhaps_;
  std::vector<Read> reads_;
  std::vector<Watched> watches_;
};

}  // namespace piracema::smr_sim
