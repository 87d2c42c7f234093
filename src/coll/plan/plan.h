#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "coll/plan/settings.h"
#include "coll/trees/tree.h"

namespace piracema::coll {

/// What all ranks of a communicator do in a window of operations. Broadcasts carry their tree with
/// them; but that a tree is used at all, and the tree by which values come up, all have to know
/// before. Rank 0 makes the plan of the next window and sends it when this one begins, so nobody
/// waits for it.
struct Plan {
  /// For operations of up to `small_bytes_max`, and for larger ones: ours, not the MPI library's.
  bool ours_small = false, ours_large = false;
  /// Values come up along the edges of this tree, to whatever root.
  Branches up;
  bool operator==(const Plan&) const = default;
};
constexpr std::uint64_t small_bytes_max = 65'536;

std::vector<char> encode(const Plan&);
/// Errc::corrupt for what is no plan for `size` ranks.
Result<Plan> decode_plan(std::span<const char> in, Rank size);

/// The window that begins with an operation, if one does: 0, 2, 4, 8, 16, then every 16.
std::optional<std::uint32_t> window_beginning_with(std::uint32_t operation);

/// The tree of an engine for messages of `bytes`. `site_of` is for two levels.
Tree tree_for(Engine, const LinkTable&, Rank root, double bytes,
              const std::vector<std::uint32_t>& site_of);

/// The plan of an engine. With `automatic`, ours are used where they win a tenth and 50 us against
/// a binomial tree on these links, and never where links are alike.
Plan make_plan(Engine, const LinkTable&, const std::vector<std::uint32_t>& site_of);

/// Before anything is known of the links.
Plan first_plan(Engine, Rank size);

/// What a sender is busy with for each message, apart from its bytes.
constexpr double send_overhead = 10e-6;

/// Links with a guess of their bandwidth, where that is not known: 1 GB/s when they are near
/// (below 0.2 ms), else 100 MB/s.
void guess_bandwidth(LinkTable&);

}  // namespace piracema::coll
