#pragma once

namespace piracema::cluster {

/// What put an agent in its place, and watches whether it is there. Belongs to the poller's thread.
class AgentCall {
 public:
  virtual ~AgentCall() = default;
  /// Looks whether it has ended: where the kernel has no pidfd, after SIGCHLD.
  virtual void reap() = 0;
  /// The agent goes on when this object ends, if it is one that can.
  virtual void let_go() {}
};

}  // namespace piracema::cluster
