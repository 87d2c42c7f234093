#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "smr/order/agreement/clock_bound.h"
#include "smr/view.h"

namespace piracema::smr {

/// The time of batches, by which leases and timers of the service end: the leader's clock, as all
/// replicas agree on it. It never goes back. Every replica continues it from the last decision on,
/// and the leader from what it has proposed. Pure.
class AgreedClock {
 public:
  AgreedClock(FaultModel model, Time credit) : model_(model), bound_(credit) {}

  /// The leader's clock, continued here.
  std::uint64_t time(Time now) const {
    return time_ + static_cast<std::uint64_t>((now - at_).count());
  }
  /// When it will show `time`, or has shown it, as far as this replica knows.
  Time when(Time now, std::uint64_t time) const;

  /// This replica starts, and knows of no batch yet.
  void start(Time now) { at_ = now; }
  /// It knows all of its log, and from now on believes batches by its own clock.
  void recovered(Time now) { bound_.start(now, decided_); }
  /// Time begins with the first batch: others may have started long after this replica.
  void propose_first(Time now);

  /// A batch of this time was decided. Only the leader's clock counts: a follower that goes on from
  /// its own would, as the next leader, let time jump forward, and leases end early.
  void decided(Time now, std::uint64_t time, bool leads);
  /// A batch of this time is proposed again: what follows is no earlier.
  void advance(Time now, std::uint64_t time);
  /// The service is a checkpoint of this time.
  void jump_to(Time now, std::uint64_t time);

  /// Whether a batch of this time may be ordered now; and when it may at the latest (ClockBound).
  bool allows(Time now, std::uint64_t time) const { return bound_.allows(now, time); }
  Time allowed_at(Time now, std::uint64_t time) const { return bound_.allowed_at(now, time); }

 private:
  void set(Time now, std::uint64_t time);
  void hold_back(Time now);

  const FaultModel model_;
  /// At at_.
  std::uint64_t time_ = 0;
  Time at_{};
  /// The highest time of a decided batch.
  std::uint64_t decided_ = 0;
  ClockBound bound_;
};

}  // namespace piracema::smr
