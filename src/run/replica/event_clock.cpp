#include "run/replica/event_clock.h"

#include <algorithm>
#include <utility>

namespace piracema::runtime {

bool EventClock::call_if_due() {
  if (is_advancing_) {
    if (std::exchange(has_had_turn_, false)) return false;
  } else {
    const Time now = port_.now();
    if (called_ && now - *called_ < interval) return false;
    called_ = now;
    has_news_ = false;
    told_ = marks_.come();
  }
  EventTime come = no_event_time;
  const auto advance = [&] { come = operator_->advance(told_, outbox_); };
  if (!between_batches_.call("on_event_time", advance)) return true;
  is_advancing_ = has_had_turn_ = operator_->is_advancing();
  if (!is_advancing_) look();
  count_late();
  if (come > said_ && !is_in_cycle_) {
    said_ = come;
    outbox_.watermark({come});
    counters_.event_time_has_come(come);
  }
  return true;
}

void EventClock::tell_idle() {
  idle_at_ = port_.now() + std::max(*idle_after_ / 8, interval);
  if (guard_.call("idle", [&] { operator_->idle(port_.wall_time()); })) worked();
}

std::optional<Time> EventClock::left() const {
  if (is_advancing_) return Time{};
  std::optional<Time> next = idle_at_;
  if (has_news_ && called_) next = std::min(*called_ + interval, next.value_or(Time::max()));
  if (!next) return std::nullopt;
  return std::max(*next - port_.now(), Time{});
}

}  // namespace piracema::runtime
