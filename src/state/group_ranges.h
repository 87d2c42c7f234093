#pragma once

#include <piracema/key.h>

#include <algorithm>
#include <vector>

#include "base/engine.h"

namespace piracema::state {

/// What is in both; it begins within `a` or at its end.
inline GroupRange common(const GroupRange& a, const GroupRange& b) {
  const std::uint32_t first = std::min(std::max(a.first, b.first), a.end);
  return {first, std::max(first, std::min(a.end, b.end))};
}

/// What of `all` is not in `without`: up to two ranges, none of them empty.
inline std::vector<GroupRange> rest_of(const GroupRange& all, const GroupRange& without) {
  const GroupRange both = common(all, without);
  std::vector<GroupRange> rest;
  if (both.first != all.first) rest.push_back({all.first, both.first});
  if (both.end != all.end) rest.push_back({both.end, all.end});
  return rest;
}

}  // namespace piracema::state
