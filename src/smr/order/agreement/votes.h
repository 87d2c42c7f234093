#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// One vote of each member: the one of the highest regency, and there the first. So who votes twice
/// counts once, and nobody takes more memory than one vote.
class Votes {
 public:
  explicit Votes(std::size_t members) : votes_(members) {}

  /// False if it changes nothing.
  bool put(std::size_t member, Vote vote) {
    std::optional<Vote>& old = votes_[member];
    if (old && old->regency >= vote.regency) return false;
    old = vote;
    return true;
  }
  std::size_t count(const Vote& vote) const {
    std::size_t found = 0;
    for (const auto& one : votes_) found += one && *one == vote;
    return found;
  }
  const std::optional<Vote>& of(std::size_t member) const { return votes_[member]; }

 private:
  std::vector<std::optional<Vote>> votes_;
};

}  // namespace piracema::smr
