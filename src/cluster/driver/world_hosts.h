#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace piracema::cluster {

/// The hosts of a world's ranks when some cannot be reached: each rank stays where it was meant to
/// be if that can be, and goes to the host with the fewest ranks otherwise. Nothing if none can.
std::optional<std::vector<std::size_t>> place_ranks(const std::vector<std::size_t>& wanted,
                                                    const std::vector<bool>& reached);

}  // namespace piracema::cluster
