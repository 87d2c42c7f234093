#include "ckpt/planner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace piracema::ckpt {

double duration_at(const DumpForecast& forecast, double risk) {
  const double p = 1 - std::clamp(risk, 0.01, 0.5);
  const auto between = [p](double low, double at_low, double high, double at_high) {
    const double part = (p - low) / (high - low);
    return std::exp(std::log(at_low) * (1 - part) + std::log(at_high) * part);
  };
  if (p <= 0.95) return between(0.5, forecast.p50, 0.95, forecast.p95);
  return between(0.95, forecast.p95, 0.99, forecast.p99);
}

Plan plan_dump(const PlannerSettings& settings, double left, const DumpForecast& forecast) {
  Plan plan;
  plan.duration = duration_at(forecast, settings.risk);
  plan.start_in = left - settings.reserve - plan.duration;
  plan.worth_opening = plan.start_in > 0;
  return plan;
}

std::vector<std::string> explain(const Plan& plan, const DumpFeatures& features,
                                 const DumpForecast& forecast, std::size_t learnt) {
  std::vector<std::string> lines = {
      concat("memory ", human_bytes(features.bytes), ", dirty page cache ",
             human_bytes(features.dirty_bytes), ", writers ", std::lround(features.writers),
             ", learnt from ", learnt, learnt == 1 ? " dump" : " dumps"),
      concat("a dump takes p50 ", human_seconds(forecast.p50), ", p95 ",
             human_seconds(forecast.p95), ", p99 ", human_seconds(forecast.p99))};
  for (const auto& factor : forecast.factors) {
    char value[32];
    std::snprintf(value, sizeof value, "%.2f", factor.value);
    const bool first = &factor == &forecast.factors.front();
    lines.push_back(
        concat("  ", first ? "" : "times ", std::string_view(value), "  ", factor.name));
  }
  lines.push_back(plan.start_in > 0
                      ? concat("begin in ", human_seconds(plan.start_in), " at the latest, for ",
                               human_seconds(plan.duration))
                      : concat("too late: it may take ", human_seconds(plan.duration)));
  return lines;
}

}  // namespace piracema::ckpt
