#include <doctest/doctest.h>

#include <cmath>
#include <utility>

#include "apps/carbonate/column.h"

using namespace carbonate;

namespace {

constexpr double hardly_any = 1e-12;

double power(double log10) { return std::pow(10.0, log10); }

// Of so little carbon that activities are molalities: charges balance where h = Kw / h + carbon (a1
// + 2 a2), by the shares of bicarbonate and carbonate, and one side grows with h while the other
// falls.
double ph_by_bisection(double carbon) {
  const double k1 = power(-6.352), k2 = power(-10.329), kw = power(-13.997);
  double low = 0, high = 14;
  for (int i = 0; i < 200; ++i) {
    const double ph = 0.5 * (low + high), h = power(-ph);
    const double all = h * h + k1 * h + k1 * k2;
    const double negative = kw / h + carbon * (k1 * h + 2 * k1 * k2) / all;
    (h > negative ? low : high) = ph;
  }
  return low;
}

}  // namespace

TEST_CASE("pure water is neutral") {
  Water water;
  REQUIRE(water.solve({hardly_any, hardly_any}));
  CHECK(water.ph() == doctest::Approx(13.997 / 2).epsilon(1e-5));
}

TEST_CASE("a little carbon makes water as sour as the charges that balance say") {
  for (const double carbon : {1e-7, 1e-6, 1e-5}) {
    Water water;
    REQUIRE(water.solve({carbon, hardly_any}));
    CHECK(water.ph() == doctest::Approx(ph_by_bisection(carbon)).epsilon(3e-4));
    CHECK(std::fabs(water.imbalance()) < 1e-9);
  }
}

TEST_CASE("calcite in pure water dissolves as in textbooks of geochemistry") {
  // Appelo and Postma, Geochemistry, Groundwater and Pollution, chapter 5: pH 9.9, 0.12 mmol/l of
  // calcium.
  Water water;
  Totals totals = {hardly_any, hardly_any};
  double calcite = 1;
  REQUIRE(water.solve(totals, calcite));
  CHECK(water.ph() == doctest::Approx(9.9).epsilon(0.005));
  CHECK(totals.calcium == doctest::Approx(0.12e-3).epsilon(0.05));
  CHECK(calcite + totals.calcium == doctest::Approx(1));
}

TEST_CASE("calcite is used up, and grows where there is more than water can hold") {
  Water water;
  Totals sour = {0.03, hardly_any};
  double calcite = 0.001;
  REQUIRE(water.solve(sour, calcite));
  CHECK(calcite == 0);
  CHECK(sour.calcium == doctest::Approx(0.001));
  Totals rich = {0.01, 0.01};
  REQUIRE(water.solve(rich, calcite));
  CHECK(calcite == doctest::Approx(0.01 - rich.calcium));
  CHECK(calcite > 0.009);
}

TEST_CASE("sour water eats its way through the column, and no carbon or calcium is lost") {
  Column column(10);
  const Totals before = column.balance();
  for (int i = 0; i < 20; ++i) REQUIRE(column.step());
  // Upstream of the calcite that is left the water is as it came in; downstream it has dissolved some.
  CHECK(column.ph(0) < 4);
  CHECK(column.ph(9) > 5.5);
  CHECK(column.carbon(9) > Column::inflow.carbon);
  CHECK(column.calcite() < 10 * Column::calcite_of_cell);
  CHECK(column.balance().carbon == doctest::Approx(before.carbon).epsilon(1e-9));
  CHECK(column.balance().calcium == doctest::Approx(before.calcium).epsilon(1e-9));
}
