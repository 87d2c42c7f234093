#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace carbonate {

/// Moles in a kilogram of water.
struct Totals {
  double carbon = 0, calcium = 0;
};

/// What all species are made of. Of each the natural logarithm of its activity is unknown.
enum Master { hydrogen, carbonate, calcium, master_count };
using Masters = std::array<double, master_count>;

/// A species, as so many of each master.
struct Species {
  Masters of;
  int charge;
  double log10_k;
};

// At 25 C (Plummer and Busenberg 1982).
enum { h, oh, co3, hco3, co2, ca, cahco3, caco3, species_count };
constexpr std::array<Species, species_count> all_species = {{{{1, 0, 0}, 1, 0},
                                                             {{-1, 0, 0}, -1, -13.997},
                                                             {{0, 1, 0}, -2, 0},
                                                             {{1, 1, 0}, -1, 10.329},
                                                             {{2, 1, 0}, 0, 16.681},
                                                             {{0, 0, 1}, 2, 0},
                                                             {{1, 1, 1}, 1, 11.435},
                                                             {{0, 1, 1}, 0, 3.224}}};
constexpr double log10_calcite = -8.480;  // Of the activities of calcium and carbonate.

/// The equilibrium of water with carbon, calcium and calcite: Newton's method for the activities of
/// the masters, so that charges balance, there is as much of each element as was given, and water
/// in touch with calcite is saturated with it. Activities by the equation of Davies.
class Water {
 public:
  /// The first guess; any will do.
  explicit Water(const Masters& log_activity = {-16, -16, -9}) : log_activity_(log_activity) {}

  /// Without calcite. Both totals > 0. Whether it was found.
  bool solve(const Totals& totals) { return solve(totals, false); }

  /// With so many moles of calcite, which dissolves or grows until the water is saturated or it is
  /// used up. Gives totals and calcite as they are then. Whether it was found.
  bool solve(Totals& totals, double& calcite) {
    bool found = solve(totals, true);
    // What has dissolved is what is now in the water; as much calcium as carbon.
    const double dissolved = std::min(calcite, found ? calcium_in_water() - totals.calcium : 0);
    if (found && dissolved == calcite) {
      found = solve({totals.carbon + dissolved, totals.calcium + dissolved}, false);
    }
    totals = {totals.carbon + dissolved, totals.calcium + dissolved};
    calcite -= dissolved;
    return found;
  }

  double ph() const { return -log_activity_[hydrogen] / ln10; }
  double molality(std::size_t species) const { return molality_[species]; }
  const Masters& log_activity() const { return log_activity_; }
  /// Of what charges there are; 0 but for rounding.
  double imbalance() const {
    double sum = 0, all = 0;
    for (std::size_t s = 0; s < species_count; ++s) {
      sum += all_species[s].charge * molality_[s];
      all += std::abs(all_species[s].charge) * molality_[s];
    }
    return sum / all;
  }

 private:
  static constexpr double ln10 = 2.302585092994046;
  static constexpr int iterations_max = 200;
  static constexpr double close_enough = 1e-11, longest_step = 2;

  double calcium_in_water() const { return sum_of(calcium); }
  double sum_of(Master master) const {
    double sum = 0;
    for (std::size_t s = 0; s < species_count; ++s) sum += all_species[s].of[master] * molality_[s];
    return sum;
  }

  // By the ionic strength of the last iteration, as it changes little from one to the next.
  void weigh() {
    double strength = 0;
    for (std::size_t s = 0; s < species_count; ++s) {
      strength += 0.5 * all_species[s].charge * all_species[s].charge * molality_[s];
    }
    // Beyond what Davies is good for only guesses are.
    const double root = std::sqrt(std::min(strength, 1.0));
    const double slope = -0.509 * ln10 * (root / (1 + root) - 0.3 * root * root);
    for (std::size_t s = 0; s < species_count; ++s) {
      const Species& one = all_species[s];
      double log_m = one.log10_k * ln10 - slope * one.charge * one.charge;
      for (std::size_t m = 0; m < master_count; ++m) log_m += one.of[m] * log_activity_[m];
      molality_[s] = std::exp(log_m);
    }
  }

  bool solve(const Totals& totals, bool saturated) {
    for (int i = 0; i < iterations_max; ++i) {
      weigh();
      // A row each: how what has to be 0 changes with the unknowns, and what it is.
      std::array<std::array<double, master_count + 1>, master_count> rows{};
      for (std::size_t s = 0; s < species_count; ++s) {
        const Species& one = all_species[s];
        // Where calcite dissolves neither element is kept, but their difference is.
        const double element = saturated ? one.of[carbonate] - one.of[calcium] : one.of[carbonate];
        for (std::size_t m = 0; m < master_count; ++m) {
          rows[0][m] += one.charge * one.of[m] * molality_[s];
          rows[1][m] += element * one.of[m] * molality_[s];
          if (!saturated) rows[2][m] += one.of[calcium] * one.of[m] * molality_[s];
        }
        rows[0][master_count] += one.charge * molality_[s];
        rows[1][master_count] += element * molality_[s];
        if (!saturated) rows[2][master_count] += one.of[calcium] * molality_[s];
      }
      rows[1][master_count] -= saturated ? totals.carbon - totals.calcium : totals.carbon;
      if (saturated) {
        rows[2] = {0, 1, 1,
                   log_activity_[carbonate] + log_activity_[calcium] - log10_calcite * ln10};
      } else {
        rows[2][master_count] -= totals.calcium;
      }
      Masters change{};
      if (!eliminate(rows, change)) return false;
      double largest = 0;
      for (const double one : change) largest = std::max(largest, std::fabs(one));
      const double part = largest > longest_step ? longest_step / largest : 1;
      for (std::size_t m = 0; m < master_count; ++m) log_activity_[m] -= part * change[m];
      if (largest < close_enough) {
        weigh();
        return true;
      }
    }
    return false;
  }

  // Gauss, with the largest pivot.
  static bool eliminate(std::array<std::array<double, master_count + 1>, master_count>& rows,
                        Masters& result) {
    for (std::size_t column = 0; column < master_count; ++column) {
      std::size_t best = column;
      for (std::size_t row = column + 1; row < master_count; ++row) {
        if (std::fabs(rows[row][column]) > std::fabs(rows[best][column])) best = row;
      }
      std::swap(rows[column], rows[best]);
      if (!(std::fabs(rows[column][column]) > 0)) return false;
      for (std::size_t row = column + 1; row < master_count; ++row) {
        const double factor = rows[row][column] / rows[column][column];
        for (std::size_t m = column; m <= master_count; ++m)
          rows[row][m] -= factor * rows[column][m];
      }
    }
    for (std::size_t column = master_count; column-- > 0;) {
      double value = rows[column][master_count];
      for (std::size_t m = column + 1; m < master_count; ++m) value -= rows[column][m] * result[m];
      result[column] = value / rows[column][column];
    }
    return true;
  }

  Masters log_activity_;
  std::array<double, species_count> molality_{};
};

}  // namespace carbonate
