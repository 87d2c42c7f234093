#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <functional>
#include <utility>

#include "base/fd.h"
#include "bench/common/command.h"

/// What the hand-written sides of the benchmarks share: two processes, and a socket between them.
namespace piracema::bench {

/// Two ends of a TCP connection over loopback: blocking, and without delay (TCP_NODELAY).
std::pair<Fd, Fd> tcp_pair();

/// Blocks until all of it is written. The other end must be there.
void send_all(int socket, const char* data, std::size_t bytes);

/// User and system time of this process so far, and of those that it has waited for.
double cpu_seconds();

/// Runs `child` in a copy of this process, `parent` in this one, and waits for both. `parent`
/// returns false when something is not as it should be: Errc::failed. The time is that of `parent`.
Result<Sample> two_processes(const std::function<void()>& child,
                             const std::function<bool()>& parent);

}  // namespace piracema::bench
