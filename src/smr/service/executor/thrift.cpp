#include "smr/service/executor/thrift.h"

#include <utility>

namespace piracema::smr {

namespace {

// A trial costs at most what the slower way loses in one window of so many.
constexpr int patience_min = 4, patience_max = 128;

// A quarter of it new: a thread that was preempted once must not count for long. A trial is all
// that is known of today.
void average(double& value, std::size_t tasks, Time took, bool trial = false) {
  const double latest = static_cast<double>(took.count()) / static_cast<double>(tasks);
  value = value == 0 || trial ? latest : value + (latest - value) / 4;
}

}  // namespace

bool Thrift::pays(std::size_t tasks, const Prospect& prospect) {
  if (prices_.ignored) return prospect.steps < tasks;
  const double alone = cost_ * static_cast<double>(tasks);
  const double at_least =
      cost_ * static_cast<double>(prospect.steps) + price(tasks, prospect.handovers);
  open_ = at_least < 0.95 * alone;
  if (!open_) return false;
  // The first windows were done alone, to know what they take.
  if (alone_ == 0) alone_ = cost_;
  if (together_ == 0) {
    until_trial_ = patience_;
    return true;
  }
  const bool gains = together_ < alone_;
  if (--until_trial_ > 0) return gains;
  until_trial_ = patience_;
  patience_ = std::min(2 * patience_, patience_max);
  trial_ = true;
  return !gains;
}

void Thrift::learn_alone(std::size_t tasks, Time took) {
  average(cost_, tasks, took);
  const bool gained = together_ < alone_;
  if (std::exchange(open_, false)) average(alone_, tasks, took, std::exchange(trial_, false));
  if (gained != (together_ < alone_)) patience_ = until_trial_ = patience_min;
}

void Thrift::learn_together(std::size_t tasks, Time took, Time busy) {
  average(cost_, tasks, busy);
  const bool gained = together_ < alone_;
  if (std::exchange(open_, false)) average(together_, tasks, took, std::exchange(trial_, false));
  if (gained != (together_ < alone_)) patience_ = until_trial_ = patience_min;
}

}  // namespace piracema::smr
