#pragma once

#include <chrono>
#include <string>

#include <piracema/graph.h>

namespace piracema {

/// How a program runs when it was started by itself. Under `piracema run` its options rule.
struct RunOptions {
  /// Where snapshots go; empty: none are taken. $PIRACEMA_SNAPSHOTS if not set here.
  std::string snapshots;
  /// Time between two barriers.
  std::chrono::milliseconds snapshot_interval{1'000};
  /// Neighbours that lead to each other one to one share a thread. It saves the way from one
  /// thread to another, and the work of the two is then done one after the other. $PIRACEMA_FUSE,
  /// `all` or `none`, rules if it is set. What is combined shares a thread in any case.
  bool fuse = false;
  /// Go on from the newest snapshot instead of starting anew.
  bool resume = false;
};

/// Runs a program to its end and returns the exit code for `main`: 0 done, 1 an operator failed,
/// 3 the graph or the environment is wrong, 4 data is lost, 75 stopped with a snapshot. What went
/// wrong has then been said on standard error.
///
/// Started by itself the program is one process, a thread for each replica. Under `piracema run`
/// it is one of several, and runs the replicas that it is given. Call it once, from `main`.
int run(const Graph& graph, const RunOptions& options = {});

}  // namespace piracema
