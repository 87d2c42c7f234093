#include "cluster/driver/steadiness.h"

#include <algorithm>
#include <chrono>

namespace piracema::cluster {

namespace {

// After the first gap; it doubles each time.
constexpr std::chrono::seconds trial_min{1}, trial_max{300};

}  // namespace

void Steadiness::look(Time now, bool usable) {
  if (!usable) {
    if (since_) trial_ = std::clamp<Time>(2 * trial_, trial_min, trial_max);
    since_.reset();
  } else if (!since_) {
    since_ = now;
  }
}

}  // namespace piracema::cluster
