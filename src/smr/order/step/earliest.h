#pragma once

#include <optional>

#include "base/clock.h"

namespace piracema::smr {

/// The earliest of several deadlines, of which some may not be set.
class Earliest {
 public:
  void by(Time time) {
    if (!time_ || time < *time_) time_ = time;
  }
  void by(std::optional<Time> time) {
    if (time) by(*time);
  }
  std::optional<Time> time() const { return time_; }

 private:
  std::optional<Time> time_;
};

}  // namespace piracema::smr
