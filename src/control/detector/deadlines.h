#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"

namespace piracema::cluster {

/// A deadline for each of many slots, or none, and the first of all at once: whoever hears of one
/// slot need not look at the others.
class Deadlines {
 public:
  /// There are so many slots.
  void resize(std::size_t slots) { times_.resize(slots); }
  std::optional<Time> of(Slot slot) const { return times_[slot]; }
  std::optional<Time> first() const {
    return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
  }

  void set(Slot slot, std::optional<Time> time) {
    if (times_[slot] == time) return;
    if (times_[slot]) order_.erase({*times_[slot], slot});
    if (time) order_.insert({*time, slot});
    times_[slot] = time;
  }

 private:
  std::vector<std::optional<Time>> times_;
  std::set<std::pair<Time, Slot>> order_;
};

}  // namespace piracema::cluster
