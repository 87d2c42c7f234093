#pragma once

#include <array>
#include <vector>

#include "base/clock.h"
#include "coll/plan/plan.h"
#include "coll/plan/window_costs.h"

namespace piracema::coll {

/// What the model says of a broadcast of so many bytes from rank 0: our tree against a binomial
/// one. Ours pay if they win a tenth and 50 us, and never where links are alike: there the MPI
/// library may know this network better.
Expected expected_of(const LinkTable&, double bytes);

/// Makes the plans of a communicator, at its rank 0, from the links and from what all ranks tell
/// of windows that are over. Pure.
class Planner {
 public:
  Planner(Engine, Rank size);

  /// The links as they are known now, bandwidth guessed where it is not. Takes as long as a few
  /// trees: call it when they have changed.
  void on_links(const LinkTable&, const std::vector<std::uint32_t>& site_of);
  /// What a rank tells, rank 0 itself too.
  void on_told(const Told&);
  /// The plan of the next window, asked for when a window begins. Windows are short at first, then
  /// as long as `window_takes`, within bounds, so that plans cost next to nothing.
  Plan next(Time now);

  /// The trees for what comes up, by the links as they were told last, and their version.
  const Plan& trees() const { return plan_; }
  /// What calls of windows that are over have taken at the rank that was slowest in each.
  const WindowCosts& spent() const { return spent_; }
  const Choice& choice(unsigned call_class) const { return choices_[call_class]; }

 private:
  std::uint32_t next_length(Time now);

  static constexpr std::chrono::milliseconds window_takes{10};

  const Engine engine_;
  Plan plan_;
  std::array<Choice, call_classes> choices_;
  CostsOfAll costs_;
  WindowCosts spent_;
  /// When each of the two windows before began, and how many operations they have.
  Time began_{};
  std::uint32_t length_ = 0, next_length_ = 2;
  unsigned windows_ = 0;
};

}  // namespace piracema::coll
