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
  /// Ours are worth a beginning.
  bool ours_pay = false;
};

/// Chooses between our collective and the MPI library's for one class of calls. It begins with what
/// the model says, tries the other way for a few calls now and then, and follows what was measured:
/// pairs of costs from the same window, so that a machine that gets busier does not matter.
///
/// What trials cost is bounded: a hundredth of the time in such calls, or `loss_a_call_max` for
/// each call, whichever is more. Pure.
class Choice {
 public:
  static constexpr double loss_share_max = 0.01;
  static constexpr double loss_a_call_max = 5e-6;

  /// The model's opinion. If it has changed much, so have the links, and what was measured on the
  /// old ones is forgotten.
  void expect(const Expected&);
  /// What a window has cost, each way that was taken.
  void on_window(std::optional<Cost> ours, std::optional<Cost> theirs);

  Way way() const { return way_; }
  /// Whether the next window begins with a trial of the other way. Ask once a window.
  bool try_other();
  /// What trials have lost so far, and what all calls have taken; seconds.
  double lost() const { return lost_; }
  double spent() const { return spent_; }

 private:
  /// The other way's cost less this one's, in the same window.
  struct Pair {
    double difference = 0, current = 0;
  };

  void follow();
  double median_difference() const;

  static constexpr std::size_t pairs_kept = 5, pairs_needed = 3;
  static constexpr unsigned gap_least = 2, gap_most = 256;

  Way way_ = Way::theirs;
  std::optional<Expected> expected_;
  std::deque<Pair> pairs_;
  std::optional<double> current_;
  double lost_ = 0, spent_ = 0, calls_ = 0;
  unsigned gap_ = gap_least, windows_to_wait_ = gap_least;
};

}  // namespace piracema::coll
