#pragma once

#include <piracema/graph.h>

#include <memory>

#include "sim/cluster.h"

namespace piracema::sim {

/// What has happened in the workers of a program.
struct StreamCounts {
  /// Replicas that began with states by key which were kept.
  std::uint64_t kept = 0;
  /// Replicas that began with states by key which were read ahead.
  std::uint64_t ahead = 0;
  /// Parts of snapshots with batches that a barrier had overtaken, and replicas that began with
  /// some.
  std::uint64_t overtaken = 0, restored_overtaken = 0;
  /// Trees that were followed, packets that were passed on to another process, and those that were
  /// sent once more by another tree.
  std::uint64_t trees = 0, relayed = 0, sent_again = 0;
};

/// The worker of a real program: real replicas, whose threads are events and whose packets travel
/// over the simulated network as the frames that they really are. `graph` outlives the worker.
/// With `threads` so many replicas of the process work at a time, else all. `counts` may be null.
/// States by key lie in `place`, or in memory if that is null. A node that says what it costs takes
/// about as long for each batch, in place of next to nothing.
std::unique_ptr<SimWorker> make_stream_worker(const Graph& graph, Slot slot, ProcessHost& host,
                                              std::size_t threads = 0,
                                              StreamCounts* counts = nullptr,
                                              StatePlace* place = nullptr);

}  // namespace piracema::sim
