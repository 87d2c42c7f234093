#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "os/process.h"

namespace piracema::council {

/// A port of the loopback interface that is ours before anybody listens there: who calls is
/// refused.
struct Port {
  Fd socket;
  std::uint16_t number = 0;
  std::string address() const;
};
Result<Port> reserve_port();

/// What a coordinator has to know of itself and of the others.
struct Seat {
  struct Member {
    /// Where its replica is, and where workers and agents find it when it leads.
    std::string replica, door;
    std::string public_key;
  };
  std::uint32_t me = 0;
  /// Of the replica: 64 hexadecimal digits that nobody else gets.
  std::string seed;
  /// Key of the job.
  std::string token;
  std::vector<Member> members;
  /// Its own ports.
  Port replica, door;
};

/// A coordinator that this process has started: the same command again.
struct Started {
  cluster::Process process;
  Fd line;
};

/// Starts the others, `words` being the command line, and shares out the seats: the first is ours.
/// Errc::config for one that cannot be started or does not say where it is within some seconds.
Result<Seat> share_out_seats(std::uint32_t count, const std::vector<std::string>& words,
                             std::vector<Started>& others);
/// Whether this process was started by another coordinator.
bool has_seat();
/// In such a process: waits for its seat. Errc::lost when who has started it is gone.
Result<Seat> take_seat();

}  // namespace piracema::council
