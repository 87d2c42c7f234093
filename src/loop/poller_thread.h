#pragma once

#include <thread>

#include "loop/poller.h"

namespace piracema::net {

/// A thread that runs a poller for as long as this lives.
class PollerThread {
 public:
  explicit PollerThread(Poller& poller) : poller_(poller), thread_([&poller] { poller.run(); }) {}
  ~PollerThread() {
    poller_.stop();
    thread_.join();
  }
  PollerThread(const PollerThread&) = delete;
  PollerThread& operator=(const PollerThread&) = delete;

 private:
  Poller& poller_;
  std::thread thread_;
};

}  // namespace piracema::net
