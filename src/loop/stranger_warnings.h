#pragma once

#include <optional>
#include <string>

#include "base/limited_warnings.h"
#include "loop/poller.h"

namespace piracema::net {

/// Logs warnings that strangers cause: what they do too often is counted instead of written each
/// time. Belongs to the poller's thread.
class StrangerWarnings {
 public:
  /// `poller` outlives it.
  explicit StrangerWarnings(Poller& poller) : poller_(poller) {}
  /// Says what is left to be said.
  ~StrangerWarnings();
  StrangerWarnings(const StrangerWarnings&) = delete;
  StrangerWarnings& operator=(const StrangerWarnings&) = delete;

  void warn(std::string text);

 private:
  void say_later();

  Poller& poller_;
  LimitedWarnings warnings_;
  std::optional<Poller::Timer> later_;
};

}  // namespace piracema::net
