#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "base/clock.h"

namespace piracema::runtime {

/// How many batches that all receivers get may be on their way at once. Credits alone would let so
/// many wait before a link that has become slow that a better way could not help them for long: so
/// there are no more than fill the way, as after TCP Vegas (Brakmo 1995), and a tenth of a second
/// of them beyond that. Counts for batches that take long; of others there are fewer than it
/// allows.
///
/// Every ten seconds, or thirty times as long as the way takes if that is longer, it has half as
/// many for a moment, to see how long the way itself takes. Pure.
class BroadcastPace {
 public:
  explicit BroadcastPace(std::size_t receivers) : done_by_(receivers, 0) {}

  bool may_send() const { return on_the_way_.size() < allowed_; }
  void sent(std::uint64_t number, Time now);
  /// A receiver has done so many more, in the order in which they were sent.
  void done(std::size_t receiver, std::uint32_t batches, Time now);

  std::size_t allowed() const { return allowed_; }
  /// All receivers have done what was sent before this number; `next` is the one to be sent next.
  std::uint64_t done_before(std::uint64_t next) const {
    return on_the_way_.empty() ? next : on_the_way_.front().number;
  }

 private:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  /// While one is on its way there is another one behind it.
  static constexpr std::size_t least = 2;
  /// Credits do not let more on the way, so there is nothing to find out.
  static constexpr std::size_t most = 16;
  static constexpr Time spare = std::chrono::milliseconds(100);
  static constexpr Time looks_every = std::chrono::seconds(10);
  static constexpr int ways_between_looks = 30;

  struct Sent {
    std::uint64_t number = 0;
    Time at{};
    std::size_t receivers_left = 0;
    /// On the way when it was sent; if they are few, what it takes is the way itself.
    std::size_t before = 0;
  };

  void all_done(const Sent& batch, Time now);

  std::deque<Sent> on_the_way_;
  std::uint64_t left_behind_ = 0;
  std::vector<std::uint64_t> done_by_;
  std::size_t allowed_ = no_limit;
  /// Between two that were done while others waited; 0: not known.
  Time gap_{};
  /// What one takes that is alone on the way; 0: not known.
  Time way_{};
  Time last_done_{};
  bool looking_ = false;
  Time looked_{};
};

}  // namespace piracema::runtime
