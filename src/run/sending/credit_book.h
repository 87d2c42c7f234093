#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "run/packet/packet.h"
#include "run/sending/pace.h"

namespace piracema::runtime {

/// What a replica has allowed each of its senders to send, and how long it takes for an item.
class CreditBook {
 public:
  /// `most`, for each input: so many batches may be on the way, 1 or more.
  explicit CreditBook(const std::vector<std::uint32_t>& most)
      : paces_(most.begin(), most.end()), unpaid_(most.size()) {
    for (const CreditPace& pace : paces_) granted_.push_back(pace.first());
  }

  /// What the sender of an input is told at first.
  Credit first(std::size_t input) const { return {granted_[input], 0, 0}; }

  /// A batch of `input` was in the snapshot that is gone on from: nobody has used a credit for it.
  void restored(std::size_t input) { unpaid_[input] += 1; }
  /// A batch of `input` is done that nobody has used a credit for. They come before all others.
  bool take_unpaid(std::size_t input) {
    if (unpaid_[input] == 0) return false;
    unpaid_[input] -= 1;
    return true;
  }

  /// A batch of `items` was worked on for `took` ns.
  void worked(std::uint32_t items, std::uint64_t took) {
    if (items == 0) return;
    const std::uint64_t each = std::max<std::uint64_t>(took / items, 1);
    ns_per_item_ = ns_per_item_ == 0 ? each : (3 * ns_per_item_ + each) / 4;
  }

  /// A batch of `input` is done, after `took` ns: what its sender is to be told. That may be no
  /// more than that it is done: who has nothing to do gets the next item without delay.
  /// `after` is the time for an item of the slowest node that follows: the slowest of all decides
  /// how large a piece of work should be.
  Credit done(std::size_t input, std::uint64_t took, std::uint64_t after) {
    const std::uint32_t credits = paces_[input].done(took, granted_[input]);
    return {credits, std::max(ns_per_item_, after), 1};
  }

 private:
  std::vector<std::uint32_t> granted_;
  std::vector<CreditPace> paces_;
  /// Batches that a snapshot had.
  std::vector<std::uint32_t> unpaid_;
  std::uint64_t ns_per_item_ = 0;
};

}  // namespace piracema::runtime
