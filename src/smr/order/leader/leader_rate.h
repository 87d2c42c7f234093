#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "smr/ids.h"
#include "smr/order/messages/settings.h"

namespace piracema::smr {

/// A minimum rate for leaders (Clement et al., "Making Byzantine fault tolerant systems tolerate
/// Byzantine faults", NSDI 2009, section 5): one that lies may order just enough that nobody's
/// timer runs out. Unlike Aardvark's, which rises until every leader fails it, this rate is asked
/// for only while there is a sign that the leader is slow: most of the time nothing was decided
/// although requests waited, or some had to be forwarded. Then another leader is tried, and the
/// rates of all are compared: so a group that is slow under each of them comes to rest, and one
/// that is fast never changes its leader because of it. Pure.
class LeaderRate {
 public:
  explicit LeaderRate(const Settings& settings);

  /// `leader` begins.
  void begin(Time now, ReplicaId leader);
  /// So many requests were ordered; some wait still.
  void decided(Time now, std::size_t requests, bool some_wait);
  /// To be told whenever it may have changed.
  void waiting(Time now, bool some_wait);
  /// Some requests had to be forwarded to the leader.
  void forwarded() { forwarded_ = true; }

  /// When a period is over: why one of `others` should lead in its place; in one line.
  std::optional<std::string> check(Time now, const std::vector<ReplicaId>& others);
  Time next_deadline() const { return end_; }

  /// Of the last periods of a leader, requests in a second; nullopt if it was never seen at work.
  std::optional<double> rate_of(ReplicaId leader) const;

 private:
  void pass(Time now);
  void restart(Time now);

  const Time period_, gap_;
  std::map<ReplicaId, double> rates_;
  ReplicaId leader_ = 0;
  Time began_{}, end_{};
  /// The last decision, or since when anybody waits.
  Time last_{};
  bool idle_ = true, forwarded_ = false;
  /// Of this period: with requests that wait, and of that without a decision for long.
  Time busy_{}, stuck_{};
  std::uint64_t count_ = 0;
};

}  // namespace piracema::smr
