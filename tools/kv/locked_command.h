#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "base/fd.h"

namespace piracema::tools {

/// A command that runs on behalf of this process, which passes signals on to it, and that somebody
/// may have to end. Make it before any thread. One thread; `end` any.
class LockedCommand {
 public:
  /// From now on SIGINT, SIGTERM, SIGHUP and SIGCHLD wait.
  LockedCommand();
  LockedCommand(const LockedCommand&) = delete;
  LockedCommand& operator=(const LockedCommand&) = delete;

  /// The signal that wants this process to end, 0 if there is none.
  int is_interrupted() const;

  /// Until it has ended: its exit code, 128 and the number of the signal that killed it, 126 or 127
  /// if it cannot be run or there is no such program. The variable `name` of its environment is
  /// `value`. It dies when the thread that calls this does.
  int run(const std::vector<std::string>& command, const std::string& name,
          const std::string& value, std::chrono::milliseconds grace);
  /// Ends it: SIGTERM, and after `grace` SIGKILL. One that has not begun does not begin.
  void end();
  bool was_ended() const { return ended_; }

 private:
  int wait(pid_t pid, std::chrono::milliseconds grace);

  sigset_t signals_{}, before_{};
  Fd signal_fd_, end_fd_;
  std::atomic<bool> ended_ = false;
};

}  // namespace piracema::tools
