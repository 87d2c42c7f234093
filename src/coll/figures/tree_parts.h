#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/trees/tree.h"

namespace piracema::coll {

/// Puts the distributed tree of engine mst together at rank 0, for whoever looks on: every rank
/// knows its own neighbours, and tells them. Pure.
class TreeParts {
 public:
  explicit TreeParts(Rank size) : told_(size) {}

  /// What a rank tells of the last round that is over there.
  static std::string encode(std::uint32_t round, const std::vector<Rank>& neighbours);
  /// Bytes that may come from anybody. What is older than what was told before, or makes no sense,
  /// changes nothing.
  void on_part(Rank from, std::span<const char> bytes);
  /// As it hangs from rank 0, whose own neighbours these are; nullopt unless all have told of that
  /// round, and it is a tree.
  std::optional<Tree> tree(std::uint32_t round, const std::vector<Rank>& own) const;

 private:
  struct Part {
    std::uint32_t round = 0;
    std::vector<Rank> neighbours;
  };
  std::vector<std::optional<Part>> told_;
};

}  // namespace piracema::coll
