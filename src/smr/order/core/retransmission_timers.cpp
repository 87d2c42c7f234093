#include "smr/order/core/retransmission_timers.h"

#include <algorithm>

namespace piracema::smr {

void RetransmissionTimers::restart(Time now) {
  every_ = interval_;
  due_ = now + every_;
  count_ = 0;
}

void RetransmissionTimers::repeat(Time now) {
  every_ = std::min(2 * every_, 16 * interval_);
  due_ = now + every_;
  others_ahead_ = false;
  count_ += 1;
}

bool RetransmissionTimers::may_answer(Time now, std::size_t member) {
  Time& answered = answered_[member];
  if (now < answered + interval_ / 2) return false;
  answered = now;
  return true;
}

}  // namespace piracema::smr
