#pragma once

#include <signal.h>

#include <functional>

#include "base/fd.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// SIGINT, SIGTERM and SIGCHLD as events of a loop, from its thread and those started after it.
/// The process's own mask comes back at the end. What came until then and was not read was meant
/// for the loop, and does nothing any more.
class Signals {
 public:
  Signals(net::Poller& poller, std::function<void(int number)> on_signal);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void read();

  net::Poller& poller_;
  std::function<void(int)> on_signal_;
  sigset_t before_{};
  Fd fd_;
};

}  // namespace piracema::cluster
