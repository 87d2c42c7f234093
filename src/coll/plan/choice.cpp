#include "coll/plan/choice.h"

#include <algorithm>
#include <vector>

namespace piracema::coll {

namespace {

/// Below that two costs are one.
constexpr double least_difference = 2e-6;

bool changed(double before, double after) {
  return std::max(before, after) > 1.5 * std::min(before, after) + least_difference;
}

}  // namespace

void Choice::expect(const Expected& expected) {
  const bool same = expected_ && expected_->ours_pay == expected.ours_pay &&
                    !changed(expected_->ours, expected.ours) &&
                    !changed(expected_->theirs, expected.theirs);
  if (same) return;
  expected_ = expected;
  changed_ = true;
  gap_ = gap_least;
  windows_to_wait_ = std::min(windows_to_wait_, gap_);
}

void Choice::on_window(std::optional<Cost> ours, std::optional<Cost> theirs) {
  const bool awaited = windows_since_trial_ < trial_lasts;
  const bool tried = awaited && (way_ == Way::ours ? theirs : ours).has_value();
  if (theirs) {
    spent_ += theirs->calls * theirs->seconds;
    settle(theirs->seconds);
  }
  if (ours) {
    spent_ += ours->calls * ours->seconds;
    ours_ = ours->seconds;
    unsettled_.calls += ours->calls;
    unsettled_.seconds += ours->calls * ours->seconds;
    if (theirs) settle(theirs->seconds);
  }
  suspicious_ =
      way_ == Way::ours && !theirs && ours_ && theirs_ && *ours_ > *theirs_ + least_difference;
  if (tried) {
    windows_since_trial_ = trial_lasts;
    if (way_ == Way::theirs) {
      changed_ = false;
    } else if (ours_) {
      looked_ += theirs->calls * std::max(0.0, theirs->seconds - *ours_);
    }
    // A window may be too short to have both; then the newest of the other is as good.
    if (ours_ && theirs_) on_pair(*ours_ / std::max(*theirs_, 1e-9));
  }
  if (way_ == Way::ours && lost() > loss_share_max * spent_) go(Way::theirs);
}

void Choice::settle(double theirs) {
  // It may have changed at any time since it was measured last.
  const double reference = theirs_ ? (*theirs_ + theirs) / 2 : theirs;
  lost_ += unsettled_.seconds - unsettled_.calls * reference;
  // What was gained is no reason to lose it again.
  lost_ = std::max(lost_, -loss_share_max * spent_);
  unsettled_ = {};
  theirs_ = theirs;
}

double Choice::lost() const {
  return lost_ + unsettled_.seconds - unsettled_.calls * theirs_.value_or(0);
}

void Choice::on_pair(double ratio) {
  ratios_.push_back(ratio);
  if (ratios_.size() > ratios_kept) ratios_.pop_front();
  // How far the newest, and the middle one of several, have to be from 1.
  const double here = way_ == Way::theirs ? ratio : 1 / ratio;
  const double middle = way_ == Way::theirs ? median_ratio() : 1 / median_ratio();
  const bool clear = here < 1 / clear_factor;
  const bool twice = ratios_.size() == 2 && middle < 0.8;
  const bool often = ratios_.size() >= 3 && middle < (way_ == Way::theirs ? 0.95 : 0.98);
  if (clear || twice || often) {
    go(other(way_));
    return;
  }
  if (ratios_.size() >= 3 || here > clear_factor) gap_ = std::min(2 * gap_, gap_most);
  windows_to_wait_ = gap_;
}

void Choice::go(Way way) {
  way_ = way;
  // The newest pair goes along: one more like it, and the way is settled.
  while (ratios_.size() > 1) ratios_.pop_front();
  suspicious_ = false;
  gap_ = gap_least;
  // Those that are under way still go as before.
  windows_to_wait_ = windows_under_way;
}

double Choice::median_ratio() const {
  std::vector<double> sorted(ratios_.begin(), ratios_.end());
  // Of an even number the one that is worse for the other way.
  const std::size_t at = way_ == Way::theirs ? sorted.size() / 2 : (sorted.size() - 1) / 2;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double Choice::risk() const {
  const double by_model =
      *theirs_ * (expected_->theirs > 0 ? expected_->ours / expected_->theirs : 1);
  if (expected_->ours_pay && changed_) return 0;
  // Of what was not measured the model may be wrong by a call.
  if (!ours_) return std::max(*theirs_, by_model - *theirs_);
  return std::max(0.0, *ours_ - *theirs_);
}

bool Choice::may_try_ours() const {
  if (!theirs_ || !expected_) return false;
  return lost() + risk() <= loss_share_max * spent_;
}

bool Choice::may_try_theirs() const {
  if (suspicious_) return true;
  const double loss = ours_ && theirs_ ? std::max(0.0, *theirs_ - *ours_) : 0;
  return looked_ + loss <= look_share_max * spent_;
}

bool Choice::try_other() {
  // What the last trial has cost is told some windows later.
  if (windows_since_trial_ < trial_lasts) {
    windows_since_trial_ += 1;
    if (windows_since_trial_ < trial_lasts) return false;
  }
  if (windows_to_wait_ > 0 && !suspicious_) {
    windows_to_wait_ -= 1;
    return false;
  }
  if (!(way_ == Way::theirs ? may_try_ours() : may_try_theirs())) return false;
  windows_since_trial_ = 0;
  return true;
}

}  // namespace piracema::coll
