#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coll/plan/call.h"
#include "coll/plan/settings.h"
#include "topology/trees/tree.h"

namespace piracema::coll {

/// What all ranks of a communicator do in a window of operations. Broadcasts carry their tree with
/// them; but that a tree is used at all, and the tree by which values come up, all have to know
/// before. Rank 0 makes the plan of the next window and sends it when this one begins, so nobody
/// waits for it. Other trees it sends earlier where it can: with what goes down from it to all.
struct Plan {
  /// Operations in the window, `window_operations_max` at most.
  std::uint32_t length = 2;
  /// By class of calls: ours, not the MPI library's; and the first few calls of the window go the
  /// other way, to see what that costs.
  std::bitset<call_classes> ours, trial;
  /// Values come up along the edges of these trees, to whatever root: few bytes, and segments.
  Branches up, up_large;
  /// Of these trees: grows when they become others.
  std::uint32_t version = 0;
  bool operator==(const Plan&) const = default;

  Way way(unsigned call_class, unsigned calls_before) const {
    const bool tried = trial[call_class] && calls_before < trial_calls;
    return ours[call_class] != tried ? Way::ours : Way::theirs;
  }
};
constexpr std::uint32_t window_operations_max = 512;

std::vector<char> encode(const Plan&);
/// Errc::corrupt for what is no plan for `size` ranks.
Result<Plan> decode_plan(std::span<const char> in, Rank size);

/// The tree of an engine for messages of `bytes`. `site_of` is for two levels.
Tree tree_for(Engine, const LinkTable&, Rank root, double bytes,
              const std::vector<std::uint32_t>& site_of);

/// Whether an engine uses its trees for everything.
bool is_forced(Engine);

/// The plan of an engine by the links alone: ways only where the engine is forced.
Plan make_plan(Engine, const LinkTable&, const std::vector<std::uint32_t>& site_of);
/// Before anything is known of the links.
Plan first_plan(Engine, Rank size);

/// What a sender is busy with for each message, apart from its bytes.
constexpr double send_overhead = 10e-6;

}  // namespace piracema::coll
