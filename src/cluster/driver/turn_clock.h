#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.h"

namespace piracema::cluster {

/// The time of a job as its coordinator wants it: it never goes back, and it stands still while
/// what has arrived by some moment is told.
class TurnClock {
 public:
  Time time() {
    last_ = std::max(last_, stopped_.value_or(now()));
    return last_;
  }
  /// The start of the job is when this was made.
  Time start() const { return start_; }
  Time since_start() { return time() - start_; }
  /// It is this moment until `go_on`.
  Time stand_still() {
    stopped_ = now();
    return *stopped_;
  }
  void go_on() { stopped_.reset(); }

 private:
  const Time start_ = now();
  Time last_ = start_;
  std::optional<Time> stopped_;
};

}  // namespace piracema::cluster
