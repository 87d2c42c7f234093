#pragma once

#include <string>

#include "base/clock.h"
#include "base/limited_warnings.h"
#include "base/log.h"

namespace piracema {

/// Lines of one kind in the log, few at a time (LimitedWarnings): who makes them come without end
/// must not flood it. Not safe for two threads.
class LogLimit {
 public:
  void log(Level level, std::string message, Time time = now());

 private:
  LimitedWarnings warnings_;
};

}  // namespace piracema
