#pragma once

#include <piracema/smr/groups.h>

#include <cstddef>
#include <optional>

#include "bench/smr/probe.h"
#include "bench/smr/workload.h"
#include "smr/service/executor/thrift.h"

namespace piracema::bench {

/// How a workload is executed by a group that clients ask (paper 003, section 4).
struct Replicated {
  /// Four replicas of which one may lie; else three of which one may crash.
  bool byzantine = false;
  /// Each asks its next question when the last one is answered.
  std::size_t clients = 100;
  /// 1: a thread of its own executes one operation after the other.
  unsigned execution_threads = 1;
  /// By clients' groups; else by keys.
  std::optional<smr::ConflictGroups> groups = {};
  smr::Prices prices = {};
  double warmup_s = 0.2, seconds = 0.5;
};

/// By new replicas on this machine, in memory. To be called while the process has one thread. Ends
/// the program with a message if an operation fails: nothing that was measured would be believed.
Rate run_replicated(const Workload& workload, const Replicated& how);

}  // namespace piracema::bench
