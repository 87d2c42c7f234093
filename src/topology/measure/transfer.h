#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace piracema::coll {

/// Measures a link by the segments of a large message: how far apart they come, against how far
/// apart they were sent. Clocks of sender and receiver need not agree. Pure.
class Transfer {
 public:
  /// In the order in which they come.
  void on_segment(Time sent_at, Time came_at, std::uint64_t bytes);
  /// Seconds a megabyte; nullopt if there were too few, or if they came no slower than they were
  /// sent: then the link was not what took the time.
  std::optional<double> megabyte() const;

 private:
  std::uint64_t bytes_ = 0;
  unsigned segments_ = 0;
  Time first_sent_{}, last_sent_{}, first_came_{}, last_came_{};
};

}  // namespace piracema::coll
