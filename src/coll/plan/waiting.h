#pragma once

namespace piracema::coll {

/// How ranks of one host that wait share its cores. Pure.
struct Waiting {
  /// Ranks of this job on the host, and cores that they may use together.
  unsigned ranks = 1, cores = 1;

  /// Polls in vain after which a rank leaves its core to others. MPI libraries that look at the
  /// number of ranks spin while each has a core, and yield at once where there are more, as who is
  /// waited for may want this core.
  constexpr int polls_before_yield() const { return ranks > cores ? 0 : 200; }
};

}  // namespace piracema::coll
