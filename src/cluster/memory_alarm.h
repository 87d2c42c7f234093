#pragma once

#include <piracema/graph.h>

#include <string>

#include "base/engine.h"
#include "loop/poller.h"
#include "os/memory_watch.h"

namespace piracema::cluster {

/// Says that memory gets short, and what states could lie on disk instead, while there is time to
/// stop the job and go on with another setting. Its poller's thread.
class MemoryAlarm {
 public:
  /// `poller` outlives it. `in_memory`: states by key are.
  MemoryAlarm(net::Poller& poller, const GraphShape& shape, bool in_memory);
  /// From now on, each second.
  void watch();

 private:
  net::Poller& poller_;
  /// How a sentence ends.
  std::string advice_;
  MemoryWatch watch_;
};

}  // namespace piracema::cluster
