#include "smr/order/agreement/clock_bound.h"

#include <algorithm>
#include <limits>

namespace piracema::smr {

namespace {

/// Of the time that passes, this part is credit: clocks are at most a tenth wrong.
constexpr int drift = 10;

// Time may be anything: others say it.
std::uint64_t later(std::uint64_t time, Time by) {
  const auto most = std::numeric_limits<std::uint64_t>::max();
  const auto nanoseconds = static_cast<std::uint64_t>(by.count());
  return time > most - nanoseconds ? most : time + nanoseconds;
}

}  // namespace

std::uint64_t ClockBound::estimate(Time now) const { return later(time_, now - at_); }

Time ClockBound::credit(Time now) const {
  return std::min(credit_max_, credit_ + (now - at_) / drift);
}

void ClockBound::start(Time now, std::uint64_t time) {
  time_ = time;
  at_ = now;
}

bool ClockBound::allows(Time now, std::uint64_t time) const {
  return time <= later(estimate(now), credit(now));
}

Time ClockBound::allowed_at(Time now, std::uint64_t time) const {
  if (allows(now, time)) return now;
  const std::uint64_t ahead = time - later(estimate(now), credit(now));
  const auto reach = static_cast<std::uint64_t>((Time::max() - now).count());
  return now + Time(static_cast<Time::rep>(std::min(ahead, reach)));
}

// Forward only for credit. Not back by more than the credit either: a leader that had let time
// stand still could make up for all of it at once.
void ClockBound::decided(Time now, std::uint64_t time) {
  const std::uint64_t was = estimate(now);
  const Time left = credit(now);
  const bool spent = time > later(was, left);
  credit_ = spent ? Time{} : left - Time(time > was ? time - was : 0);
  time_ = std::clamp(was, time, later(time, credit_max_));
  at_ = now;
}

}  // namespace piracema::smr
