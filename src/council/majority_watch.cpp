#include "council/majority_watch.h"

#include <utility>

namespace piracema::council {

void MajorityWatch::look(Time now) {
  const Time pause = now - std::exchange(looked_at_, now);
  if (asked_at_ && pause > stopped_after) *asked_at_ += pause;
}

bool MajorityWatch::asks(Time now) {
  if (now < ask_at_) return false;
  ask_at_ = now + ask_every;
  if (!asked_at_) asked_at_ = now;
  return true;
}

}  // namespace piracema::council
