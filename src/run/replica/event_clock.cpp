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
  outbox_.begin_finish();
  if (!guard_.call("on_event_time", [&] { come = operator_->advance(told_, outbox_); })) {
    return true;
  }
  guard_.no_item();
  is_advancing_ = has_had_turn_ = operator_->is_advancing();
  if (!is_advancing_) look();
  if (gives_) counters_.items_late.store(operator_->items_late(), std::memory_order_relaxed);
  if (come > said_ && !is_in_cycle_) {
    said_ = come;
    outbox_.watermark({come});
    counters_.event_time_has_come(come);
  }
  outbox_.pump();
  counters_.sent(outbox_.items_sent(), outbox_.bytes_sent());
  return true;
}

std::optional<Time> EventClock::left() const {
  if (is_advancing_) return Time{};
  if (!has_news_ || !called_) return std::nullopt;
  return std::max(*called_ + interval - port_.now(), Time{});
}

}  // namespace piracema::runtime
