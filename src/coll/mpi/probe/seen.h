#pragma once

#include <atomic>
#include <cstdint>

namespace piracema::coll::mpi {

/// The program's blocking collectives at this rank, and broadcasts that do not block: all that it
/// called by a name that this library has; those that were looked at, along a tree or compared with
/// it; and those that went along trees. Any thread.
struct Seen {
  std::atomic<std::uint64_t> calls{0}, intercepted{0}, ours{0};
};
inline Seen seen;

}  // namespace piracema::coll::mpi
