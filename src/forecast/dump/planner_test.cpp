#include "forecast/dump/planner.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

namespace {

const DumpForecast forecast{.p50 = 2, .p95 = 8, .p99 = 16, .tail = 0.3};

}  // namespace

TEST_CASE("the time that a dump may take grows as the risk falls") {
  CHECK(duration_at(forecast, 0.01) == doctest::Approx(16));
  CHECK(duration_at(forecast, 0.05) == doctest::Approx(8));
  CHECK(duration_at(forecast, 0.5) == doctest::Approx(2));
  CHECK(duration_at(forecast, 0.02) > 8);
  CHECK(duration_at(forecast, 0.02) < 16);
  // A tenth of the risk: 10^0.3 times as long.
  CHECK(duration_at(forecast, 0.001) == doctest::Approx(31.9).epsilon(0.01));
  // Beyond that nobody knows.
  CHECK(duration_at(forecast, 0) == duration_at(forecast, 0.0005));
}

TEST_CASE("the planner begins as late as the risk allows") {
  const PlannerSettings settings{.risk = 0.01, .share = 0, .reserve = 1};
  const Plan plan = plan_dump(settings, 200, 100, forecast);
  CHECK(plan.duration == doctest::Approx(16));
  CHECK(plan.start_in == doctest::Approx(83));
  CHECK(plan.used == doctest::Approx(0.915));
  CHECK(plan_dump(settings, 8.5, 8.5, forecast).start_in < 0);
}

TEST_CASE("more is risked where a window would be lost to caution, and no more than is said") {
  const DumpForecast stalled{.p50 = 1, .p95 = 3, .p99 = 50, .tail = 0.5};
  const PlannerSettings settings{.risk = 0.01, .share = 0.08, .reserve = 0};
  CHECK(plan_dump(settings, 60, 60, stalled).used > 0.9);
  CHECK(plan_dump(settings, 60, 60, stalled).duration >= 3);
  // One that is long enough keeps the risk.
  CHECK(plan_dump(settings, 300, 300, stalled).duration == doctest::Approx(50));
  // Whoever risks more anyway is not asked to risk less.
  CHECK(plan_dump({.risk = 0.2, .reserve = 0}, 4, 4, stalled).duration < 3);
}

TEST_CASE("after a window that was missed the next one is used all the same") {
  Predictor predictor;
  DumpFeatures known{.bytes = 60e6, .at = 1e9};
  for (int i = 0; i < 20; ++i) {
    predictor.learn(known, 0.5 + 0.02 * (i % 5));
    known.at += 60;
  }
  const double before = plan_dump({}, 60, 60, predictor.forecast(known)).used;
  // It was given up after all the time that it was given, and counts for half as much again.
  const double given = plan_dump({}, 60, 60, predictor.forecast(known)).duration;
  predictor.learn(known, 1.5 * given);
  known.at += 60;
  const double after = plan_dump({}, 60, 60, predictor.forecast(known)).used;
  CAPTURE(before);
  CHECK(before > 0.85);
  CHECK(after > 0.5);
}

TEST_CASE("ending processes takes as long as their memory is large") {
  CHECK(ending_seconds(0) > 0);
  CHECK(ending_seconds(0.5e9) > 0.72);
  CHECK(ending_seconds(60e6) < 0.3);
}

TEST_CASE("a long window is not risked for a few seconds of it") {
  const PlannerSettings settings{.risk = 0.05, .share = 0.05, .reserve = 0};
  CHECK(plan_dump(settings, 100, 100, forecast).duration == doctest::Approx(8));
  CHECK(plan_dump(settings, 300, 300, forecast).duration == doctest::Approx(15));
  // No more than what takes the risk to one in two thousand.
  CHECK(plan_dump(settings, 30'000, 30'000, forecast).duration ==
        doctest::Approx(39.3).epsilon(0.01));
}

TEST_CASE("a plan tells what it stands on") {
  const Predictor predictor;
  const DumpFeatures known{.bytes = 1e9, .processes = 3, .writers = 2, .probe = 0.05};
  const DumpForecast said = predictor.forecast(known);
  std::string all;
  for (const auto& line : explain(plan_dump({}, 300, 300, said), known, said, 7))
    all += line + "\n";
  for (const char* part : {"memory 1.00 GB of 3 processes", "writers 2", "probe of the store 50 ms",
                           "learnt from 7 dumps", "p50", "p99", "times", "at the latest"}) {
    CAPTURE(part);
    CHECK(all.find(part) != std::string::npos);
  }
}

}  // namespace piracema::ckpt
