#include "forecast/dump/spread.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/random.h"

namespace piracema::ckpt {

namespace {

double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.unit();
  return sum;
}

}  // namespace

TEST_CASE("before there are errors a factor of two either way is usual") {
  const Spread spread;
  const double at95 = std::exp(spread.scale({}) * spread.quantile(0.95));
  CHECK(at95 > 1.6);
  CHECK(at95 < 3);
  CHECK(std::abs(spread.quantile(0.5)) < 0.01);
}

TEST_CASE("quantiles are those of what was seen") {
  Random random(1);
  std::vector<Spread::Error> past;
  for (int i = 0; i < 1000; ++i) past.push_back({{}, 0.2 * normal(random)});
  const Spread spread(past, 1);
  const auto at = [&](double level) { return spread.scale({}) * spread.quantile(level); };
  CHECK(std::abs(at(0.5)) < 0.03);
  CHECK(at(0.9) == doctest::Approx(0.256).epsilon(0.1));
  CHECK(at(0.95) == doctest::Approx(0.329).epsilon(0.1));
  CHECK(at(0.99) == doctest::Approx(0.465).epsilon(0.1));
  for (double level = 0.01; level < 0.98; level += 0.01) CHECK(at(level) <= at(level + 0.01));
}

TEST_CASE("what is uncertain only at times is so only then") {
  Random random(2);
  std::vector<Spread::Error> past;
  for (int i = 0; i < 200; ++i) {
    const bool busy = random.chance(0.3);
    past.push_back({{1, 0, busy ? 2.0 : 0.0, 0, 0, 0}, (busy ? 0.8 : 0.1) * normal(random)});
  }
  const Spread spread(past, 0.99);
  const double calm = spread.scale({1, 0, 0, 0, 0, 0}), busy = spread.scale({1, 0, 2, 0, 0, 0});
  CHECK(calm == doctest::Approx(0.1).epsilon(0.5));
  CHECK(busy > 4 * calm);
  // One that is like none of them has what is usual.
  const double usual = spread.scale({1, 0, 0, 9, 9, 0});
  CHECK(usual > calm);
  CHECK(usual < busy);
}

}  // namespace piracema::ckpt
