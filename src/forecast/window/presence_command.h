#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "loop/poller.h"
#include "os/own_process.h"

namespace piracema::ckpt {

/// A command of the site's that ends with 0 while a user is there. Belongs to the poller's thread.
class PresenceCommand {
 public:
  PresenceCommand(net::Poller& poller, std::string command, std::function<void(bool seen)> answer)
      : poller_(poller), command_(std::move(command)), answer_(std::move(answer)) {}
  ~PresenceCommand();

  /// Runs it, unless it runs. One that takes longer than ten seconds says that somebody is there:
  /// the careful answer.
  void look();

 private:
  void hear();

  net::Poller& poller_;
  const std::string command_;
  const std::function<void(bool seen)> answer_;
  OwnProcess process_;
  Time since_{};
};

}  // namespace piracema::ckpt
