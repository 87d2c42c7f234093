#include "topology/measure/detours.h"

#include <limits>
#include <numeric>

namespace piracema::coll {

namespace {
constexpr double share_at_most = 0.5, saves_at_least = 1e-3;
}

Detours::Detours(Rank size) : first_(size), latency_(size, 0) {
  std::iota(first_.begin(), first_.end(), Rank{0});
}

Detours::Detours(const LinkTable& links, Rank me) : Detours(links.size()) {
  const Rank size = links.size();
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> shortest(size, never);
  std::vector<Rank> by(size, no_rank);
  std::vector<bool> done(size, false);
  shortest[me] = 0;
  for (Rank step = 0; step < size; ++step) {
    Rank next = no_rank;
    for (Rank rank = 0; rank < size; ++rank) {
      if (!done[rank] && (next == no_rank || shortest[rank] < shortest[next])) next = rank;
    }
    done[next] = true;
    for (Rank to = 0; to < size; ++to) {
      const double through = shortest[next] + links.at(next, to).latency;
      if (done[to] || through >= shortest[to]) continue;
      shortest[to] = through;
      by[to] = next == me ? to : by[next];
    }
  }
  for (Rank to = 0; to < size; ++to) {
    if (to == me) continue;
    const double straight = links.at(me, to).latency;
    const bool pays =
        shortest[to] <= share_at_most * straight && straight - shortest[to] >= saves_at_least;
    first_[to] = pays ? by[to] : to;
    latency_[to] = pays ? shortest[to] : straight;
  }
}

}  // namespace piracema::coll
