#pragma once

#include <piracema/error.h>

#include <chrono>
#include <optional>
#include <string>

#include "ckpt/capsule/capsule.h"
#include "ckpt/hosts/host_messages.h"
#include "host/frame_pipe.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// Between two signs of life, both ways.
constexpr std::chrono::seconds sign_interval{1};
/// An agent that has heard nothing of its keeper for so long ends its part of the job: the keeper
/// may have gone on elsewhere by then, which it does not before `host_silence`.
constexpr std::chrono::seconds keeper_silence{20}, host_silence{30};

/// One host of a job of several: a capsule, and whom it hears from by a remote shell. Ends, with
/// all in its capsule, when that does. The process has one thread.
class HostAgent {
 public:
  /// Standard input and output. `program` is this program's file.
  explicit HostAgent(std::string program);

  /// Until the keeper has gone: the exit code.
  int run();

 private:
  void hear();
  void take(const wire::Frame& frame);
  void open(const HostOpen& open);
  Result<Done> open_capsule();
  void link(const HostLink& link);
  void order(Bytes bytes);
  void hear_capsule();
  void sign();
  void fail(const std::string& why);
  void say(FromAgent kind, Bytes head);

  const std::string program_;
  net::Poller poller_;
  FramePipe keeper_;
  Time heard_{};
  HostOpen open_;
  /// Held as long as this host may have processes of the job: whoever takes over waits for it.
  Fd lock_;
  Fd network_;
  std::optional<Capsule> capsule_;
  std::optional<int> ended_;
};

}  // namespace piracema::ckpt
