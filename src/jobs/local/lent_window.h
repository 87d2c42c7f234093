#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "jobs/protocol/job.h"

namespace piracema::jobs {

/// When the jobs of a machine that is lent for a while have to leave it: as late as what is known
/// of them allows (paper 002, section 3), and once for each window. What is left of a window when
/// they have gone is nobody's. Pure.
class LentWindow {
 public:
  /// Whether it is lent now, and by when nothing of jobs may be there any more; none: that has no
  /// end yet.
  struct Seen {
    bool is_lent = true;
    std::optional<Time> gone_by;
    /// Of one that is not: a few words for people.
    std::string why;
  };
  /// How long the jobs that run there take to leave, and to be ended without that.
  struct Takes {
    Time leaving{}, ending{};
  };

  void see(const Seen& seen) { seen_ = seen; }
  void learn(const Takes& takes);

  /// Jobs may begin there, as far as its owner goes.
  bool is_open(Time now) const;
  /// The same, for the group.
  Lent told(Time now) const;
  /// Whether it is open has changed since this was asked.
  bool turns(Time now);
  /// Not open, when `turns` was asked.
  bool is_closed() const { return closed_; }
  /// For its owner: why jobs leave.
  std::string why_jobs_leave(Time now) const;
  /// What is there still is to be ended.
  bool is_over(Time now) const { return seen_.gone_by && now >= *seen_.gone_by - takes_.ending; }
  /// No later than that may anything live, whoever else allows it.
  Time at_most(Time until) const;
  /// When to look again; `any_lives`: something of jobs is there.
  std::optional<Time> next(bool any_lives) const;

 private:
  Seen seen_ = {};
  Takes takes_{std::chrono::seconds(1), {}};
  bool closed_ = false;
  /// The end for which it was closed.
  std::optional<Time> closed_for_;
};

}  // namespace piracema::jobs
