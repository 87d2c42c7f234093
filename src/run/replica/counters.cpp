#include "run/replica/counters.h"

#include <algorithm>

namespace piracema::runtime {

void Counters::clear() {
  for (auto* counter :
       {&items_in, &items_out, &bytes_in, &bytes_out, &busy_ns, &blocked_ns, &items_late}) {
    counter->store(0);
  }
  blocked_since.store(0);
  queued.store(0);
  read_ppm.store(0);
  calls.store(0);
  event_time_has_come(no_event_time);
}

std::optional<Time> Counters::event_time_come() const {
  const EventTime come{Time(event_time.load(std::memory_order_relaxed))};
  if (come == no_event_time) return std::nullopt;
  return come.time_since_epoch();
}

void Counters::wait_for_room(bool waits, Time now) {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (!waits) blocked_ns.store(blocked_by(now), relaxed);
  blocked_since.store(waits ? std::max(now, Time(1)).count() : 0, relaxed);
}

std::uint64_t Counters::blocked_by(Time now) const {
  constexpr auto relaxed = std::memory_order_relaxed;
  const Time since(blocked_since.load(relaxed));
  const std::uint64_t before = blocked_ns.load(relaxed);
  if (since == Time{} || now <= since) return before;
  return before + static_cast<std::uint64_t>((now - since).count());
}

}  // namespace piracema::runtime
