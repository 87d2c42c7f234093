#include "base/patience.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace piracema {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time usual_most = microseconds(100);
constexpr Time looks_for_least = microseconds(10);
// Longer than a wake and a short turn of one of ours takes: a slice of somebody who has work.
constexpr Time somebody_else = microseconds(400);
constexpr Time way_least = milliseconds(10);
constexpr Time way_most = milliseconds(1000);

}  // namespace

bool Patience::begin() {
  since_ = at_ = now();
  return usual_ <= usual_most && since_ >= not_before_;
}

bool Patience::look_again() {
  if (at_ >= since_ + looks_for_least + 4 * usual_) return false;
  ::sched_yield();
  const Time before = std::exchange(at_, now());
  if (at_ - before <= somebody_else) return true;
  give_way();
  return false;
}

// Longer and longer, while it is always the same.
void Patience::give_way() {
  const bool again = at_ < not_before_ + 2 * way_;
  way_ = again ? std::min(2 * way_, way_most) : way_least;
  not_before_ = at_ + way_;
}

void Patience::slept() {
  usual_ = (3 * usual_ + std::min(now() - since_, Time(milliseconds(1)))) / 4;
}

}  // namespace piracema
