#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"

namespace piracema::smr {

/// When this replica says again what may have been lost, and to whom it may do so. A disk or a
/// machine may just be slow; then repeating makes it slower, so each time in vain doubles the wait.
/// Pure.
class RetransmissionTimers {
 public:
  RetransmissionTimers(Time resend_interval, std::size_t members)
      : interval_(resend_interval), every_(resend_interval), answered_(members) {}

  Time due() const { return due_; }
  /// Said again more than twice since the last decision, in vain.
  bool in_vain() const { return count_ >= 3; }
  /// A message was beyond the horizon, or somebody is further than this replica.
  bool others_ahead() const { return others_ahead_; }

  /// The first step, or a decision: there is nothing to repeat for a while.
  void restart(Time now);
  /// A regency begins, and its leader proposes anew.
  void postpone(Time now) { due_ = now + every_; }
  void see_others_ahead() { others_ahead_ = true; }
  /// All is said again.
  void repeat(Time now);

  /// Whether a member that asks gets an answer, which is counted: the answer may be large, the
  /// question is not. Nobody gets it more often than a correct replica asks.
  bool may_answer(Time now, std::size_t member);
  /// Others are members now.
  void begin_view(std::size_t members) { answered_.assign(members, Time{}); }

 private:
  const Time interval_;
  Time every_, due_{};
  unsigned count_ = 0;
  bool others_ahead_ = false;
  std::vector<Time> answered_;
};

}  // namespace piracema::smr
