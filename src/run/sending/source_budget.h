#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace piracema::runtime {

/// How many items a source may begin in one call. It gets them in portions and the clock is looked
/// at between two: after the first item and after each eighth more, but at least once every
/// `items_a_look_max` items. So a source that has been fast and becomes slow, be it in the middle
/// of a call, keeps neither its items nor a barrier back for long. Pure.
class SourceBudget {
 public:
  static constexpr std::int64_t items_a_look_max = 256;

  /// A call may begin `items` items, and go on until `until`. Returns the first portion.
  std::int64_t begin(std::int64_t items, Time until) {
    const std::int64_t first = std::min<std::int64_t>(items, 1);
    later_ = items - first;
    given_ = first;
    until_ = until;
    return first;
  }

  /// Nothing is left beyond the portion that was given last.
  bool is_used_up() const { return later_ <= 0; }
  /// What is left beyond that.
  std::int64_t later() const { return later_; }

  /// The next portion; 0 if the time of the call is over. Not for one that is used up.
  std::int64_t next(Time now) {
    if (now >= until_) return 0;
    const std::int64_t look = std::clamp<std::int64_t>(given_ / 8, 1, items_a_look_max);
    const std::int64_t more = std::min(later_, look);
    given_ += more;
    later_ -= more;
    return more;
  }

  /// The call gets no more.
  void drop() { later_ = 0; }

 private:
  std::int64_t later_ = 0;
  /// What the call has got so far.
  std::int64_t given_ = 0;
  Time until_{};
};

}  // namespace piracema::runtime
