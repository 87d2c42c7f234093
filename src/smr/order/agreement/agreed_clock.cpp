#include "smr/order/agreement/agreed_clock.h"

#include <algorithm>

namespace piracema::smr {

Time AgreedClock::when(Time now, std::uint64_t wanted) const {
  constexpr std::uint64_t far = 1'000'000'000'000'000'000;  // Times may be anything.
  const std::uint64_t here = time(now);
  const auto span = [far](std::uint64_t length) {
    return Time(static_cast<Time::rep>(std::min(length, far)));
  };
  return wanted < here ? now - span(here - wanted) : now + span(wanted - here);
}

void AgreedClock::propose_first(Time now) {
  if (time_ == 0) at_ = now;
}

void AgreedClock::decided(Time now, std::uint64_t time, bool leads) {
  decided_ = std::max(decided_, time);
  bound_.decided(now, time);
  if (!leads) return set(now, decided_);
  advance(now, time);
  hold_back(now);
}

void AgreedClock::advance(Time now, std::uint64_t to) {
  if (to > time(now)) set(now, to);
}

// The others believe no time that is far beyond the last batch's, and that may have been decided
// long after it was proposed, as while too few were there: they would refuse the next one.
void AgreedClock::hold_back(Time now) {
  const std::uint64_t believed = std::max(decided_, bound_.estimate(now));
  if (model_ == FaultModel::byzantine && time(now) > believed) set(now, believed);
}

void AgreedClock::jump_to(Time now, std::uint64_t time) {
  decided_ = time;
  set(now, time);
  bound_.decided(now, time);
}

void AgreedClock::set(Time now, std::uint64_t time) {
  time_ = time;
  at_ = now;
}

}  // namespace piracema::smr
