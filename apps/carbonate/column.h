#pragma once

#include <utility>
#include <vector>

#include "water.h"

namespace carbonate {

/// Water with carbon dioxide that flows through a column of cells with calcite: each step moves the
/// water of each cell into the next one, and then the water of each cell is in equilibrium with the
/// calcite there.
class Column {
 public:
  /// Saturated with carbon dioxide at one bar; hardly any calcium.
  static constexpr Totals inflow = {0.0339, 1e-9};
  static constexpr double calcite_of_cell = 0.05;  // Moles, of a kilogram of water.

  explicit Column(long cells) : cells_(static_cast<std::size_t>(cells)) {
    // All alike at first: water that has met nothing but calcite.
    Cell first{{1e-9, 1e-9}, calcite_of_cell, Water().log_activity()};
    ok_ = settle(first);
    for (Cell& cell : cells_) cell = first;
  }

  /// Whether the equilibrium of every cell was found.
  bool step() {
    Totals moved = inflow;
    for (Cell& cell : cells_) {
      std::swap(cell.totals, moved);
      ok_ = settle(cell) && ok_;
    }
    out_.carbon += moved.carbon;
    out_.calcium += moved.calcium;
    in_.carbon += inflow.carbon;
    in_.calcium += inflow.calcium;
    return ok_;
  }

  /// Moles of calcite that are left.
  double calcite() const {
    double sum = 0;
    for (const Cell& cell : cells_) sum += cell.calcite;
    return sum;
  }
  /// What is in the water and in calcite, and what has left, without what has come.
  Totals balance() const {
    Totals sum = {out_.carbon - in_.carbon, out_.calcium - in_.calcium};
    for (const Cell& cell : cells_) {
      sum.carbon += cell.totals.carbon + cell.calcite;
      sum.calcium += cell.totals.calcium + cell.calcite;
    }
    return sum;
  }
  double ph(long cell) const { return at(cell).ph(); }
  /// Moles of carbon in the water of a cell.
  double carbon(long cell) const { return cells_[static_cast<std::size_t>(cell)].totals.carbon; }
  long cells() const { return static_cast<long>(cells_.size()); }

 private:
  struct Cell {
    Totals totals;
    double calcite = 0;
    /// Where the search for the next equilibrium begins.
    Masters log_activity{};
  };

  Water at(long cell) const { return Water(cells_[static_cast<std::size_t>(cell)].log_activity); }

  static bool settle(Cell& cell) {
    Water water(cell.log_activity);
    const bool found = water.solve(cell.totals, cell.calcite);
    cell.log_activity = water.log_activity();
    return found;
  }

  std::vector<Cell> cells_;
  Totals in_, out_;
  bool ok_ = true;
};

}  // namespace carbonate
