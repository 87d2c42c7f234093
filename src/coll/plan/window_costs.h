#pragma once

#include <piracema/error.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "coll/plan/choice.h"
#include "topology/trees/costs.h"

namespace piracema::coll {

/// What calls have taken, by class and way: one rank's in one window, or all. Fixed memory.
class WindowCosts {
 public:
  /// `seconds` of so many calls together.
  void add(unsigned call_class, Way way, double seconds, std::uint32_t calls = 1) {
    Cost& cost = costs_[call_class][static_cast<std::size_t>(way)];
    cost.calls += calls;
    cost.seconds += seconds;
  }
  void add(const WindowCosts& others);
  void clear() { costs_ = {}; }
  /// Seconds of all calls together here, unlike elsewhere.
  const Cost& total(unsigned call_class, Way way) const {
    return costs_[call_class][static_cast<std::size_t>(way)];
  }
  /// What all calls of ours together have taken less than the MPI library's own would have, by what
  /// those took that went its way; seconds, below 0 for more. Classes that only went one way say
  /// nothing.
  double gained() const;
  std::vector<char> encode(std::uint32_t window, std::uint32_t operation) const;

 private:
  std::array<std::array<Cost, 2>, call_classes> costs_{};
};

/// What a rank tells when it begins a window: what the one before has cost it.
struct Told {
  std::uint32_t window = 0;
  /// The operation with which it begins; it is through with those before.
  std::uint32_t operation = 0;
  struct Entry {
    unsigned call_class = 0;
    Way way = Way::theirs;
    Cost cost;  ///< A call.
  };
  std::vector<Entry> entries;
};
/// Errc::corrupt for what is none.
Result<Told> decode_told(std::span<const char> in);

/// Puts together what all ranks tell of a window: the slowest rank's cost of each class. Pure.
class CostsOfAll {
 public:
  explicit CostsOfAll(Rank size) : size_(size) {}
  using Costs = std::map<unsigned, std::array<std::optional<Cost>, 2>>;
  /// The costs of a window that all have told of now.
  std::optional<Costs> on_told(const Told&);

 private:
  struct Window {
    Rank told = 0;
    Costs costs;
  };
  const Rank size_;
  std::map<std::uint32_t, Window> windows_;
};

}  // namespace piracema::coll
