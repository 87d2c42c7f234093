#include "run/replica/operator_timer.h"

#include <algorithm>
#include <chrono>

namespace piracema::runtime {

namespace {
// The clock may be set meanwhile.
constexpr Time timer_rest_longest = std::chrono::seconds(1);
}  // namespace

bool OperatorTimer::call_if_due() {
  if (!has_timer() || called_) return false;
  const WallTime now = port_.wall_time();
  if (!guard_.call("next_timer", [&] { next_ = operator_->next_timer(); })) return true;
  if (!next_ || *next_ > now) return false;
  between_batches_.call("on_timer", [&] {
    operator_->on_timer(now, outbox_);
    next_ = operator_->next_timer();
  });
  return true;
}

std::optional<Time> OperatorTimer::left() const {
  if (!next_) return std::nullopt;
  const Time left = std::chrono::duration_cast<Time>(*next_ - port_.wall_time());
  return std::clamp(left, Time{}, timer_rest_longest);
}

}  // namespace piracema::runtime
