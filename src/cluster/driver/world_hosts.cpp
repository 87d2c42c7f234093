#include "cluster/driver/world_hosts.h"

namespace piracema::cluster {

std::optional<std::vector<std::size_t>> place_ranks(const std::vector<std::size_t>& wanted,
                                                    const std::vector<bool>& reached) {
  std::vector<std::size_t> placed = wanted;
  std::vector<std::size_t> ranks(reached.size());
  for (const std::size_t host : wanted) ranks[host] += reached[host] ? 1 : 0;
  for (std::size_t& host : placed) {
    if (reached[host]) continue;
    std::optional<std::size_t> best;
    for (std::size_t other = 0; other < reached.size(); ++other) {
      if (reached[other] && (!best || ranks[other] < ranks[*best])) best = other;
    }
    if (!best) return std::nullopt;
    host = *best;
    ranks[host] += 1;
  }
  return placed;
}

}  // namespace piracema::cluster
