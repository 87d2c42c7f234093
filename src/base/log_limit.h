#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace piracema {

/// Lines of one kind, few at a time: who makes them come without end must not flood the log. What
/// was left out is counted, and said with the next line. Not safe for two threads.
class LogLimit {
 public:
  explicit LogLimit(std::uint64_t lines = 5, Time period = std::chrono::seconds(10))
      : lines_(lines), period_(period) {}

  void log(Level level, std::string_view message, Time time = now());

 private:
  const std::uint64_t lines_;
  const Time period_;
  Time began_{};
  std::uint64_t said_ = 0, left_out_ = 0;
};

}  // namespace piracema
