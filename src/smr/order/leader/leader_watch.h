#pragma once

#include <optional>

#include "smr/order/leader/leader_change.h"
#include "smr/order/leader/leader_rate.h"

namespace piracema::smr {

/// Watches whether the leader does its work, and asks for another one if it does not: it is silent,
/// its regency does not begin, it orders nothing, or less than others did.
class LeaderWatch {
 public:
  LeaderWatch(const Settings& settings, Step& step, const Membership& members,
              const Leadership& leadership, LeaderPatience& patience, const Progress& progress,
              const Proposer& proposer, RequestPool& pool, LeaderChange& change);

  /// A regency begins, or the leader is judged anew.
  void begin(Time now) { rate_.begin(now, leadership_.leader()); }
  /// So many requests were ordered. `by_leader`: the leader had a part in it.
  void decided(std::size_t requests, bool by_leader);
  /// The leader says that it lives.
  void heard();
  /// To be told at the end of each step.
  void end_step() { rate_.waiting(step_.now(), pool_.size() != 0); }
  /// This replica stood still until now, for so long: nobody is to blame for it.
  void forgive(Time now, Time late);

  void tick();
  std::optional<Time> next_deadline() const;

 private:
  void watch();
  void expire_requests();
  void judge();
  bool judges() const;
  bool may_demand() const { return leadership_.votes() && leadership_.content(); }

  const Settings settings_;
  Step& step_;
  const Membership& members_;
  const Leadership& leadership_;
  LeaderPatience& patience_;
  const Progress& progress_;
  const Proposer& proposer_;
  RequestPool& pool_;
  LeaderChange& change_;
  /// Byzantine.
  LeaderRate rate_;
};

}  // namespace piracema::smr
