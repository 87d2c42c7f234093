#include "coll/plan/choice.h"

#include <algorithm>
#include <vector>

namespace piracema::coll {

namespace {

/// Below that two costs are one.
constexpr double least_difference = 2e-6, least_share = 0.02;
/// Trials begin when a class has shown that it is used.
constexpr double calls_before_trial = 32;

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
  way_ = expected.ours_pay ? Way::ours : Way::theirs;
  pairs_.clear();
  current_.reset();
  gap_ = windows_to_wait_ = gap_least;
}

void Choice::on_window(std::optional<Cost> ours, std::optional<Cost> theirs) {
  const auto& current = way_ == Way::ours ? ours : theirs;
  const auto& tried = way_ == Way::ours ? theirs : ours;
  if (current) {
    calls_ += current->calls;
    spent_ += current->calls * current->seconds;
    current_ = current->seconds;
  }
  if (!tried) return;
  calls_ += tried->calls;
  spent_ += tried->calls * tried->seconds;
  if (!current_) return;
  lost_ += tried->calls * std::max(0.0, tried->seconds - *current_);
  pairs_.push_back({tried->seconds - *current_, *current_});
  if (pairs_.size() > pairs_kept) pairs_.pop_front();
  follow();
}

void Choice::follow() {
  if (pairs_.size() < pairs_needed) return;
  gap_ = std::min(2 * gap_, gap_most);
  windows_to_wait_ = std::max(windows_to_wait_, gap_);
  const double margin = std::max(least_difference, least_share * pairs_.back().current);
  if (median_difference() > -margin) return;
  way_ = other(way_);
  for (Pair& pair : pairs_) pair = {-pair.difference, pair.current + pair.difference};
  current_ = pairs_.back().current;
  gap_ = windows_to_wait_ = gap_least;
}

double Choice::median_difference() const {
  std::vector<double> sorted;
  for (const Pair& pair : pairs_) sorted.push_back(pair.difference);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

bool Choice::try_other() {
  if (windows_to_wait_ > 0) {
    windows_to_wait_ -= 1;
    return false;
  }
  if (calls_ < calls_before_trial || !expected_) return false;
  double difference = expected_->theirs - expected_->ours;
  if (way_ == Way::theirs) difference = -difference;
  if (!pairs_.empty()) difference = median_difference();
  const double loss = trial_calls * std::max(0.0, difference);
  if (lost_ + loss > std::max(loss_share_max * spent_, loss_a_call_max * calls_)) return false;
  windows_to_wait_ = gap_;
  return true;
}

}  // namespace piracema::coll
