#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// Signals to this process as calls from a poller: from then on they are blocked and do nothing
/// else, and SIGPIPE is ignored. Belongs to the poller's thread; made before there are others.
class SignalWatch {
 public:
  using OnSignal = std::function<void(int number)>;

  /// Errc::io.
  static Result<std::unique_ptr<SignalWatch>> open(net::Poller& poller,
                                                   const std::vector<int>& numbers,
                                                   OnSignal on_signal);
  ~SignalWatch() { poller_.forget(signals_.get()); }

 private:
  SignalWatch(net::Poller& poller, Fd signals, OnSignal on_signal);

  net::Poller& poller_;
  Fd signals_;
  const OnSignal on_signal_;
};

}  // namespace piracema::ckpt
