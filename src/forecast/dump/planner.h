#pragma once

#include <string>
#include <vector>

#include "forecast/dump/predictor.h"

/// When to begin the last checkpoint of a window. Pure.
namespace piracema::ckpt {

struct PlannerSettings {
  /// How often a window may close before the image is complete, from 0.0005 to 0.5.
  double risk = 0.01;
  /// Less is risked while that costs no more than this share of the window: a miss costs all of it.
  double share = 0.08;
  /// More is risked, up to `risk_most`, where the window would lose more than half of itself, and
  /// as far as more of it is used by that on average: a store that has stalled once is not to keep
  /// the windows that follow from being used.
  double risk_most = 0.05;
  /// Before the close, for ending processes, in seconds.
  double reserve = 0.3;
};

struct Plan {
  /// How long the dump may take at this risk.
  double duration = 0;
  /// Seconds until the dump is begun at the latest; negative: too late for this risk.
  double start_in = 0;
  /// The part of the window after which the job is saved, 0 if it is not worth opening.
  double used = 0;
};

/// For a window of `length` seconds that closes in `left`. A known end makes it best to begin as
/// late as the quantile allows, and not at Young's interval, which is for failures that are not
/// announced.
Plan plan_dump(const PlannerSettings& settings, double length, double left,
               const DumpForecast& forecast);

/// How long it takes to end processes that hold so much memory, which the kernel gives back first.
double ending_seconds(double resident_bytes);

/// The quantile of the forecast at 1 - risk: between those that it has, or beyond, by its tail.
double duration_at(const DumpForecast& forecast, double risk);

/// What `piracema ckpt plan` prints: a line each.
std::vector<std::string> explain(const Plan& plan, const DumpFeatures& features,
                                 const DumpForecast& forecast, std::size_t learnt);

}  // namespace piracema::ckpt
