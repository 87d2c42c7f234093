#include "ckpt/predictor.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/random.h"
#include "ckpt/planner.h"
#include "ckpt/store_trace.h"

namespace piracema::ckpt {

TEST_CASE("before anything is learnt the forecast is a careful one") {
  const Predictor predictor;
  const auto forecast = predictor.forecast({.bytes = 500e6});
  CHECK(forecast.p50 > 1);
  CHECK(forecast.p99 > 2 * forecast.p50);
}

TEST_CASE("a store's rate is learnt in a few dumps") {
  Predictor predictor;
  for (int i = 0; i < 15; ++i)
    predictor.learn({.bytes = 400e6 + 20e6 * i}, 0.1 + (400e6 + 20e6 * i) / 1e9);
  const auto forecast = predictor.forecast({.bytes = 800e6});
  CHECK(forecast.p50 == doctest::Approx(0.9).epsilon(0.3));
  CHECK(forecast.p95 >= forecast.p50);
}

TEST_CASE("p95 holds in about 95 % of dumps, whatever the store does") {
  for (const StoreKind kind :
       {StoreKind::calm, StoreKind::contended, StoreKind::shared, StoreKind::changing}) {
    std::size_t held = 0, count = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Predictor predictor;
      StoreTrace store(kind, seed);
      for (int i = 0; i < 300; ++i) {
        const auto [features, seconds] = store.next();
        if (i >= 30) {
          count += 1;
          held += seconds <= predictor.forecast(features).p95 ? 1 : 0;
        }
        predictor.learn(features, seconds);
      }
    }
    CAPTURE(static_cast<int>(kind));
    const double coverage = static_cast<double>(held) / static_cast<double>(count);
    CHECK(coverage > 0.93);
    CHECK(coverage < 0.97);
  }
}

TEST_CASE("what was learnt comes back as it was, and other texts are refused") {
  Predictor predictor;
  StoreTrace store(StoreKind::contended, 5);
  for (int i = 0; i < 40; ++i) {
    const auto [features, seconds] = store.next();
    predictor.learn(features, seconds);
  }
  const std::string text = predictor.encode();
  const auto back = Predictor::decode("p", as_bytes(text));
  REQUIRE(back.ok());
  CHECK(back->forecast({.bytes = 1e9}).p99 ==
        doctest::Approx(predictor.forecast({.bytes = 1e9}).p99));
  CHECK(back->learnt() == 40);
  CHECK_FALSE(Predictor::decode("p", as_bytes(text.substr(1))).ok());
  CHECK_FALSE(Predictor::decode("p", as_bytes("{}")).ok());
}

TEST_CASE("the planner begins as late as the quantile allows") {
  const DumpForecast forecast{2, 8, 16, {}};
  CHECK(duration_at(forecast, 0.01) == doctest::Approx(16));
  CHECK(duration_at(forecast, 0.05) == doctest::Approx(8));
  CHECK(duration_at(forecast, 0.5) == doctest::Approx(2));
  CHECK(duration_at(forecast, 0.02) > 8);
  CHECK(duration_at(forecast, 0.02) < 16);
  const Plan plan = plan_dump({.risk = 0.01, .reserve = 1}, 100, forecast);
  CHECK(plan.start_in == doctest::Approx(83));
  CHECK(plan.worth_opening);
  CHECK_FALSE(plan_dump({.risk = 0.01, .reserve = 1}, 16.5, forecast).worth_opening);
}

}  // namespace piracema::ckpt
