#pragma once

#include <piracema/error.h>

#include <cstdint>

#include "net/socket/address.h"

namespace piracema::net {

/// What one end of a connection wants of the seal on it; the numbers travel, inside of what both
/// proofs are over, so that nobody on the way changes them.
enum class Sealing : std::uint8_t {
  never = 0,      ///< The job has --plain, or the socket is none that leads to another host.
  possible = 1,   ///< It stays on this host, as far as this end can see.
  preferred = 2,  ///< It leaves this host; whether the job has --plain is for the other end to say.
  required = 3,   ///< It leaves this host.
};

/// Which connections a job has sealed.
enum class Sealed : std::uint8_t {
  between_hosts,
  nowhere,     ///< --plain.
  everywhere,  ///< By TCP on one host as well: for tests.
};

/// What a process of a job wants that has been told which are sealed.
Sealing sealing_for(Reach reach, Sealed sealed);
/// What one wants that leaves this to its coordinator, which proves that it is the one.
Sealing sealing_as_told(Reach reach);

/// Whether two that want this seal: one that sees another host is enough, as the other may see a
/// proxy on its own. Errc::refused, with what was wanted and found, when they cannot agree.
Result<bool> agree(Sealing ours, Sealing theirs);

}  // namespace piracema::net
