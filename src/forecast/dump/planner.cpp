#include "forecast/dump/planner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr double risk_least = 0.0005;

// Seen on a host of two cores that had other things to do: half a gigabyte in 0.72 s.
constexpr double ending_least = 0.1, ending_rate = 0.7e9;

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

// Of the times between those of both risks the one by which most of a window is used on average.
double most_used(const PlannerSettings& settings, double length, const DumpForecast& forecast) {
  double best = duration_at(forecast, settings.risk), most = 0;
  for (double risk = settings.risk; risk <= settings.risk_most; risk += 0.001) {
    const double duration = duration_at(forecast, risk);
    const double used = (1 - risk) * (1 - (duration + settings.reserve) / length);
    if (used <= most) continue;
    most = used;
    best = duration;
  }
  return best;
}

}  // namespace

double duration_at(const DumpForecast& forecast, double risk) {
  risk = std::clamp(risk, risk_least, 0.5);
  if (risk < 0.01) return forecast.p99 * std::pow(0.01 / risk, forecast.tail);
  const double p = 1 - risk;
  const auto between = [p](double low, double at_low, double high, double at_high) {
    const double part = (p - low) / (high - low);
    return std::exp(std::log(at_low) * (1 - part) + std::log(at_high) * part);
  };
  if (p <= 0.95) return between(0.5, forecast.p50, 0.95, forecast.p95);
  return between(0.95, forecast.p95, 0.99, forecast.p99);
}

double ending_seconds(double resident_bytes) {
  return ending_least + std::max(0.0, resident_bytes) / ending_rate;
}

Plan plan_dump(const PlannerSettings& settings, double length, double left,
               const DumpForecast& forecast) {
  Plan plan;
  plan.duration = std::min(duration_at(forecast, risk_least),
                           std::max(duration_at(forecast, settings.risk), settings.share * length));
  if (plan.duration + settings.reserve > length / 2) {
    plan.duration = std::min(plan.duration, most_used(settings, length, forecast));
  }
  plan.start_in = left - settings.reserve - plan.duration;
  plan.used = std::max(0.0, 1 - (plan.duration + settings.reserve) / length);
  return plan;
}

std::vector<std::string> explain(const Plan& plan, const DumpFeatures& features,
                                 const DumpForecast& forecast, std::size_t learnt) {
  std::vector<std::string> lines = {
      concat("memory ", human_bytes(features.bytes), " of ", std::lround(features.processes),
             features.processes == 1 ? " process" : " processes",
             features.swapped_bytes > 0
                 ? concat(", ", human_bytes(features.swapped_bytes), " in swap")
                 : std::string()),
      concat("to be written beside it ", human_bytes(features.dirty_bytes + features.others_bytes),
             ", writers ", std::lround(features.writers),
             features.probe > 0 ? concat(", probe of the store ", human_seconds(features.probe))
                                : std::string(),
             features.busy > 1 ? concat(", ", two_digits(features.busy), " processes for each core")
                               : std::string()),
      concat("learnt from ", learnt, learnt == 1 ? " dump" : " dumps", " to this store"),
      concat("a dump takes p50 ", human_seconds(forecast.p50), ", p95 ",
             human_seconds(forecast.p95), ", p99 ", human_seconds(forecast.p99))};
  for (const auto& factor : forecast.factors) {
    const bool first = &factor == &forecast.factors.front();
    lines.push_back(
        concat("  ", first ? "" : "times ", two_digits(factor.value), "  ", factor.name));
  }
  lines.push_back(plan.start_in > 0
                      ? concat("begin in ", human_seconds(plan.start_in), " at the latest, for ",
                               human_seconds(plan.duration), ": ", two_digits(100 * plan.used),
                               " % of the window is the job's")
                      : concat("too late: it may take ", human_seconds(plan.duration)));
  return lines;
}

}  // namespace piracema::ckpt
