#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"

namespace piracema::council {

/// Whether a majority of the coordinators answers one of them, which asks from time to time. Pure.
class MajorityWatch {
 public:
  static constexpr std::chrono::milliseconds ask_every{1'000};
  /// A process that looks so seldom was stopped: others have not had their say yet.
  static constexpr std::chrono::milliseconds stopped_after{1'000};

  /// Whoever asks was busy until now: that is no pause.
  void was_busy(Time now) { looked_at_ = now; }
  /// Call several times a second.
  void look(Time now);
  /// True: whoever asks is to do so now.
  bool asks(Time now);
  void answered() { asked_at_.reset(); }

  /// One was asked and has yet to answer, for so long; or nothing.
  bool is_open() const { return asked_at_.has_value(); }
  Time open_for(Time now) const { return asked_at_ ? now - *asked_at_ : Time{}; }

 private:
  std::optional<Time> asked_at_;
  Time ask_at_{}, looked_at_{};
};

}  // namespace piracema::council
