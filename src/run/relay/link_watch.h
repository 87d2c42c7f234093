#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "control/messages/control.h"
#include "net/transport/transport.h"

namespace piracema::runtime {

/// What a process tells its coordinator of its links, so that trees can be made for them: those
/// that have carried enough to say how fast they are, and those whose round trip is another one.
/// What the kernel knows of its connections is all that is asked; nothing is sent to find out.
/// Pure; one thread.
class LinkWatch {
 public:
  /// Broadcast packets that have left since this was asked last, and their bytes.
  struct Sent {
    std::uint64_t packets = 0, bytes = 0;
  };

  /// From now on what is told is of this epoch. 0: nothing is told.
  void begin(Epoch epoch, Time every);
  bool is_due(Time now) const { return every_ != Time{} && now >= next_; }
  /// When it is due.
  LinksSeen look(Time now, const std::vector<net::LinkState>& links, const Sent& sent);

 private:
  /// Fewer than these say nothing of a link's speed: of one that was full nearly all of the time,
  /// and of another.
  static constexpr std::uint64_t busy_bytes_to_tell = 32 << 10, bytes_to_tell = 256 << 10;
  static constexpr double nearly_all = 0.8;

  struct Known {
    std::uint64_t acknowledged = 0, busy_us = 0;
    /// Since a speed was told.
    std::uint64_t bytes = 0, busy_us_of_bytes = 0;
    std::uint32_t told_round_trip_us = 0;
  };

  /// What the link has carried in so many seconds.
  static void look(Known& known, const net::LinkState& link, double seconds, LinkSeen& seen);

  Epoch epoch_ = 0;
  Time every_{}, next_{};
  std::optional<Time> looked_;
  std::map<Slot, Known> known_;
};

}  // namespace piracema::runtime
