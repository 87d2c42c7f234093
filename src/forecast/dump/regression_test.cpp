#include "forecast/dump/regression.h"

#include <doctest/doctest.h>

#include "base/random.h"

namespace piracema::ckpt {

namespace {

const Regression::Before before{.weights = {0, 0, 0.5}, .certainty = {0.2, 1, 1, 1, 1, 1, 1, 1}};

}  // namespace

TEST_CASE("a line that has seen nothing is the one of before, and not sure of it") {
  const Regression line(before);
  CHECK(line.predict({1, 0, 2, 0, 0, 0}) == doctest::Approx(1));
  CHECK(line.doubt({1, 0, 0, 0, 0, 0}) == doctest::Approx(5));
}

TEST_CASE("a line goes through what was seen, and is sure where much was seen") {
  std::vector<Observation> seen;
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Inputs x{1, random.unit(), random.unit(), 0, 0, 0};
    seen.push_back({x, 2 - 3 * x[1] + 0.7 * x[2]});
  }
  const Regression line(before, seen, 1);
  CHECK(line.weights()[0] == doctest::Approx(2).epsilon(0.05));
  CHECK(line.weights()[1] == doctest::Approx(-3).epsilon(0.1));
  CHECK(line.weights()[2] == doctest::Approx(0.7).epsilon(0.1));
  // An input that never varied is as it was before.
  CHECK(line.weights()[3] == doctest::Approx(0));
  CHECK(line.doubt({1, 0.5, 0.5, 0, 0, 0}) < 0.02);
  CHECK(line.doubt({1, 0.5, 0.5, 2, 0, 0}) > 3);
}

TEST_CASE("what is old counts less") {
  std::vector<Observation> seen;
  for (int i = 0; i < 100; ++i) seen.push_back({{1, 0, 0, 0, 0, 0}, i < 50 ? 0.0 : 1.0});
  CHECK(Regression(before, seen, 1).predict({1, 0, 0, 0, 0, 0}) ==
        doctest::Approx(0.5).epsilon(0.01));
  CHECK(Regression(before, seen, 0.9).predict({1, 0, 0, 0, 0, 0}) > 0.9);
}

}  // namespace piracema::ckpt
