#pragma once

#include <optional>

#include "base/clock.h"

namespace piracema::cluster {

/// How steadily a host can be used. After a gap it is on trial for a while before what runs
/// elsewhere goes back to it: longer, the more gaps there were. Pure.
class Steadiness {
 public:
  /// Whether it can be used now; said from time to time.
  void look(Time now, bool usable);

  /// It could each time that was said, for as long as its trial lasts.
  bool is_steady(Time now) const { return since_ && now - *since_ >= trial_; }

 private:
  std::optional<Time> since_;
  Time trial_{};
};

}  // namespace piracema::cluster
