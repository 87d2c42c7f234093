#include "base/adaptive_spin.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace piracema {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time usual_most = microseconds(50);
constexpr Time looks_for_least = microseconds(10);
// Longer than a wake and a short turn of one of ours takes: a slice of somebody who has work.
constexpr Time somebody_else = microseconds(400);
constexpr Time way_least = milliseconds(10);
constexpr Time way_most = milliseconds(1000);

}  // namespace

void AdaptiveSpin::yield() { ::sched_yield(); }

void AdaptiveSpin::begin() {
  since_ = at_ = until_ = clock_();
  if (usual_ <= usual_most && since_ >= not_before_) until_ += looks_for_least + 4 * usual_;
}

bool AdaptiveSpin::look_again() {
  if (at_ >= until_) return false;
  yield_();
  const Time before = std::exchange(at_, clock_());
  if (at_ - before > somebody_else) give_way();
  return true;
}

// Longer and longer, while it is always the same.
void AdaptiveSpin::give_way() {
  const bool again = at_ < not_before_ + 2 * way_;
  way_ = again ? std::min(2 * way_, way_most) : way_least;
  not_before_ = at_ + way_;
  until_ = at_;
}

void AdaptiveSpin::slept() {
  usual_ = (3 * usual_ + std::min(clock_() - since_, Time(milliseconds(1)))) / 4;
}

}  // namespace piracema
