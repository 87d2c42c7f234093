#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace piracema::bench {

/// How one run is made.
struct Load {
  bool byzantine = false;
  std::size_t clients = 100;
  /// All clients share one connection to each replica; else each has its own.
  bool multiplexed = false;
  /// Of an operation; replies are empty.
  std::size_t bytes = 0;
  double warmup_s = 1, seconds = 4;
  std::size_t replicas() const { return byzantine ? 4 : 3; }
};

/// What came of it.
struct Rate {
  double operations_per_second = 0;
  double mean_us = 0, p50_us = 0, p99_us = 0;
  /// Of all replicas and clients, for one operation.
  double cpu_us = 0;
};

/// User and system time that a process has used so far.
double cpu_seconds(pid_t pid);

/// From the times that single operations took.
void set_percentiles(Rate& rate, std::vector<std::uint32_t>& microseconds);

/// The limit of this machine: replicas and clients that do nothing but pass messages in the same
/// pattern over plain sockets: no sessions, no checks, no MACs, no log, one batch at a time.
Rate run_probe(const Load& load);

}  // namespace piracema::bench
