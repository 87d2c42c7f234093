#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "run/pace.h"
#include "run/packet.h"

namespace piracema::runtime {

/// What a replica has allowed each of its senders to send, and how long it takes for an item.
class CreditBook {
 public:
  explicit CreditBook(std::size_t inputs)
      : granted_(inputs, CreditPace::batches_min), unsaid_(inputs), paces_(inputs) {}

  /// A batch of `items` was worked on for `took` ns.
  void worked(std::uint32_t items, std::uint64_t took) {
    if (items == 0) return;
    const std::uint64_t each = std::max<std::uint64_t>(took / items, 1);
    ns_per_item_ = ns_per_item_ == 0 ? each : (3 * ns_per_item_ + each) / 4;
  }

  /// A batch of `input` is done, after `took` ns: what its sender is to be told, if anything.
  /// `after` is the time for an item of the slowest node that follows: the slowest of all decides
  /// how large a piece of work should be.
  std::optional<Credit> done(std::size_t input, std::uint64_t took, std::uint64_t after) {
    const std::uint32_t credits = paces_[input].done(took, granted_[input]);
    unsaid_[input] += 1;
    if (credits == 0) return std::nullopt;
    return Credit{credits, std::max(ns_per_item_, after), std::exchange(unsaid_[input], 0)};
  }

 private:
  std::vector<std::uint32_t> granted_;
  /// Batches done for which no credit went back yet.
  std::vector<std::uint32_t> unsaid_;
  std::vector<CreditPace> paces_;
  std::uint64_t ns_per_item_ = 0;
};

}  // namespace piracema::runtime
