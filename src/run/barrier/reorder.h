#pragma once

#include <piracema/batch.h>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/engine.h"

namespace piracema::runtime {

/// Puts the batches of each origin back into their order, and the parts of a batch back together.
///
/// Holds what came too early; the origin's window bounds how much that can be.
class Reorder {
 public:
  /// Takes a batch or a part of one, and returns what is now next in order, if anything.
  std::vector<Batch> add(Batch part);

  bool empty() const { return waiting_ == 0; }

 private:
  struct Parts {
    std::uint64_t share = 0;
    std::vector<Batch> parts;
  };
  struct Origin {
    std::uint64_t next = 0;
    std::map<std::uint64_t, Parts> early;
  };
  std::unordered_map<std::uint32_t, Origin> origins_;
  std::size_t waiting_ = 0;
};

/// One batch of the items of all parts, by their positions; the same items of one part stay in
/// the order they have there.
Batch merge(std::vector<Batch> parts);

}  // namespace piracema::runtime
