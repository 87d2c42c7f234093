#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// What an agent's processes write: all of them have the same end of one pipe. No more than 8 MiB
/// are under way to the coordinator; then the processes wait in `write`. Belongs to the poller's
/// thread, and is destroyed after its last turn.
class AgentOutput {
 public:
  AgentOutput(net::Poller& poller, std::function<void(std::string)> say)
      : poller_(poller), say_(std::move(say)) {}

  Result<Done> open();
  /// Where the processes write.
  int fd() const { return out_.get(); }
  /// The coordinator has taken so many bytes, from the first one on.
  void taken(std::uint64_t bytes);
  /// Says all that was written so far.
  void drain();
  /// Nobody is there to be told: what is written waits in the pipe, and then the processes do.
  void hold();
  /// Somebody else is there, and has taken nothing yet.
  void go_on();

 private:
  void watch();
  bool read();
  bool may_read() const;

  net::Poller& poller_;
  const std::function<void(std::string)> say_;
  Fd in_, out_;
  bool watching_ = false, held_ = false;
  std::uint64_t said_ = 0, taken_ = 0;
};

}  // namespace piracema::cluster
