#pragma once

namespace piracema::cluster {

/// What put an agent in its place, and watches whether it is there. Belongs to the poller's thread.
class AgentCall {
 public:
  virtual ~AgentCall() = default;
  /// Looks whether it has ended: where the kernel has no pidfd, after SIGCHLD.
  virtual void reap() = 0;
};

}  // namespace piracema::cluster
