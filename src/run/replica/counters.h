#pragma once

#include <piracema/operator.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace piracema::runtime {

/// What a replica has done since it began; others may read it at any time.
struct Counters {
  std::atomic<std::uint64_t> items_in{0}, items_out{0}, bytes_in{0}, bytes_out{0}, busy_ns{0};
  /// What it has waited for room, up to `blocked_since`: it waits since then, 0 if it does not.
  std::atomic<std::uint64_t> blocked_ns{0};
  std::atomic<std::int64_t> blocked_since{0};
  /// Packets in its inbox.
  std::atomic<std::uint32_t> queued{0};
  std::atomic<std::uint32_t> read_ppm{0};
  /// As in Progress; the replica's thread alone writes.
  std::atomic<std::uint32_t> calls{0};
  /// In nanoseconds since 1970, behind what has been sent; `no_event_time` until that is known.
  std::atomic<std::int64_t> event_time{no_event_time.time_since_epoch().count()};
  /// Since the job began.
  std::atomic<std::uint64_t> items_late{0};
  void clear();
  /// Since 1970; none: nobody has said how far.
  std::optional<Time> event_time_come() const;
  void event_time_has_come(EventTime come) {
    event_time.store(come.time_since_epoch().count(), std::memory_order_relaxed);
  }
  /// So much by now, in all.
  void sent(std::uint64_t items, std::uint64_t bytes) {
    items_out.store(items, std::memory_order_relaxed);
    bytes_out.store(bytes, std::memory_order_relaxed);
  }
  bool waits_for_room() const { return blocked_since.load(std::memory_order_relaxed) != 0; }
  /// It waits for room from `now` on, or no longer; a change. Its thread alone.
  void wait_for_room(bool waits, Time now);
  /// With what it is waiting for now. Any thread; a moment of a change may be counted twice or not
  /// at all.
  std::uint64_t blocked_by(Time now) const;
  void in_or_out() {
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

}  // namespace piracema::runtime
