#pragma once

#include <deque>
#include <optional>

#include "coll/plan/call.h"

namespace piracema::coll {

/// What calls of one class have taken in one window, at the rank that they took longest at.
struct Cost {
  unsigned calls = 0;
  /// A call.
  double seconds = 0;
};

/// What the model of the links says of one class; seconds a call.
struct Expected {
  double ours = 0, theirs = 0;
  /// Ours are worth a trial at once.
  bool ours_pay = false;
};

/// Chooses between our collective and the MPI library's for one class of calls, so that the program
/// never loses much by it: the MPI library's own is measured first, single calls then try ours, and
/// pairs of costs from about the same time decide. A first pair that differs by a factor of
/// `clear_factor` does so alone; less clear ones want more.
///
/// The bound: what all of our calls have taken together, less what the MPI library's would have by
/// the newest measurement, is never more than `loss_share_max` of the time in such calls, when one
/// of ours is begun that is tried. So a program without changes takes at most
/// 1 + `loss_share_max` times as long as bare, and one call of ours. Whoever is on our way leaves
/// it when that share is spent; what is lost between a change and its first report, three windows
/// later, nobody can help. Pure.
class Choice {
 public:
  static constexpr double loss_share_max = 0.03;
  /// A part of the time in such calls that may go into looking whether ours still are faster.
  static constexpr double look_share_max = 0.01;
  static constexpr double clear_factor = 2;

  /// The model's opinion. It never decides. If it has changed much, so have the links, and the
  /// other way is tried sooner, within the bound.
  void expect(const Expected&);
  /// What a window has cost, each way that was taken.
  void on_window(std::optional<Cost> ours, std::optional<Cost> theirs);

  Way way() const { return way_; }
  /// Whether the next window begins with one call of the other way. Ask once a window.
  bool try_other();
  /// What our calls have taken more than the MPI library's would have, below 0 if less; and what
  /// all calls have taken; seconds.
  double lost() const;
  double spent() const { return spent_; }

 private:
  static constexpr std::size_t ratios_kept = 5;
  static constexpr unsigned gap_least = 1, gap_most = 64;
  /// A trial whose window had no such call is given up after so many windows.
  static constexpr unsigned trial_lasts = 8;
  /// From a decision to the first window that it holds for, and back.
  static constexpr unsigned windows_under_way = 3;

  void settle(double theirs);
  /// Ours by theirs, seconds a call, of one pair.
  void on_pair(double ratio);
  void go(Way);
  double median_ratio() const;
  /// What a call of ours would lose, as far as is known.
  double risk() const;
  bool may_try_ours() const;
  bool may_try_theirs() const;

  Way way_ = Way::theirs;
  std::optional<Expected> expected_;
  /// The newest costs of a call.
  std::optional<double> ours_, theirs_;
  std::deque<double> ratios_;
  double lost_ = 0, spent_ = 0, looked_ = 0;
  /// Ours since the MPI library's own was measured last, all together: what they have lost is known
  /// when it is measured again, as the machine may have become busier for both.
  Cost unsettled_;
  /// Our calls take longer than the MPI library's did when it was measured last.
  bool suspicious_ = false;
  /// The links have changed since ours were tried last.
  bool changed_ = true;
  unsigned gap_ = gap_least, windows_to_wait_ = 0, windows_since_trial_ = trial_lasts;
};

}  // namespace piracema::coll
