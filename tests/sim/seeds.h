#pragma once

#include <cstdint>

#include "sim/tracing.h"

/// A deterministic simulator: virtual time, machines that crash and freeze, links that delay, lose
/// and reorder. All that is random comes from one seed, so a run can be repeated exactly.
namespace piracema::sim {

/// A range of seeds, `for (const auto seed : seeds(1'000))`. A check that fails inside of the loop
/// says which seed it was.
class Seeds {
 public:
  class Iterator {
   public:
    explicit Iterator(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t operator*() const;
    Iterator& operator++() {
      seed_ += 1;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return seed_ != other.seed_; }

   private:
    std::uint64_t seed_;
  };

  Seeds(std::uint64_t first, std::uint64_t end) : first_(first), end_(end) {}
  ~Seeds();
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(end_); }

 private:
  std::uint64_t first_, end_;
};

/// 1 to `count`. The environment's PIRACEMA_SEEDS=N wants N instead; PIRACEMA_SEED=S this one
/// alone, with its trace.
Seeds seeds(std::uint64_t count);

/// Whether what a test is about happened often enough: `times` is its sum over `seeds(count)`, and
/// `wanted` what that many seeds must have shown. Fewer seeds (PIRACEMA_SEEDS) must show as much
/// each; one that is replayed need not show anything.
bool is_exercised(std::uint64_t times, std::uint64_t wanted, std::uint64_t count);

}  // namespace piracema::sim
