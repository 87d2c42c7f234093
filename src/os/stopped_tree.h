#pragma once

#include <sys/types.h>

#include <set>

namespace piracema::ckpt {

/// All processes that descend from one, itself left out, are stopped by SIGSTOP and go on by
/// SIGCONT. Those that were stopped before stay so. What a debugger of theirs holds is left to
/// that, which is stopped as well; so is what this process may not signal.
class StoppedTree {
 public:
  explicit StoppedTree(pid_t root) : root_(root) {}

  /// Stops what runs; returns whether all stood still when it was called. Until then it has to be
  /// called again: a process that had yet to stop may have made another one.
  bool stop();
  /// Those that `stop` has stopped go on.
  void go_on();

 private:
  const pid_t root_;
  std::set<pid_t> stopped_;
};

}  // namespace piracema::ckpt
