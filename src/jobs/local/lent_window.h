#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "jobs/protocol/job.h"

namespace piracema::jobs {

/// When the jobs of a machine that is lent for a while have to leave it: as late as what is known
/// of them allows (paper 002, section 3), and once for each window. What is left of a window when
/// they have gone is nobody's. While a user is there jobs stand still, if they can, before they
/// leave; and go on if he goes in time. Pure.
class LentWindow {
 public:
  /// Whether it is lent now, and by when nothing of jobs may be there any more; none: that has no
  /// end yet.
  struct Seen {
    bool is_lent = true;
    std::optional<Time> gone_by;
    /// Of one that is not: a few words for people.
    std::string why;
    /// Of one that is not, as a user has come: until then, at most, jobs stand still before they
    /// leave.
    std::optional<Time> suspended_until = {};
    /// Of one that is not: he has gone in time, and jobs that have stood still go on.
    bool keeps = false;
  };
  /// How long the jobs that run there take to leave, and to be ended without that.
  struct Takes {
    Time leaving{}, ending{};
  };
  enum class Phase {
    open,       ///< Jobs begin and run.
    suspended,  ///< None begin. Those that can stand still do; the others leave.
    kept,       ///< None begin. Those that have stood still go on; the others leave.
    closed,     ///< All leave, and none begin before it is open again.
  };

  void see(const Seen& seen) { seen_ = seen; }
  void learn(const Takes& takes);

  Phase phase(Time now) const;
  /// Jobs may begin there, as far as its owner goes.
  bool is_open(Time now) const { return phase(now) == Phase::open; }
  /// The same, for the group. `any_stays`: there is a job that can stand still, and has not been
  /// asked to leave.
  Lent told(Time now, bool any_stays) const;
  /// The phase has changed since this was asked.
  bool turns(Time now);
  /// When `turns` was asked.
  Phase phase_then() const { return phase_; }
  /// For its owner: why jobs leave.
  std::string why_jobs_leave(Time now) const;
  /// For its owner: that jobs stand still.
  std::string why_jobs_stand_still(Time now) const;
  /// What is there still is to be ended.
  bool is_over(Time now) const { return seen_.gone_by && now >= *seen_.gone_by - takes_.ending; }
  /// No later than that may anything live, whoever else allows it.
  Time at_most(Time until) const;
  /// When to look again; `any_lives`: something of jobs is there.
  std::optional<Time> next(bool any_lives) const;

 private:
  /// When jobs that stand still are asked to leave.
  Time leaves_at() const;

  Seen seen_ = {};
  Takes takes_{std::chrono::seconds(1), {}};
  Phase phase_ = Phase::open;
  /// The end for which it was closed.
  std::optional<Time> closed_for_;
};

}  // namespace piracema::jobs
