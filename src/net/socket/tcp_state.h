#pragma once

#include <cstdint>
#include <optional>

namespace piracema::net {

/// What the kernel knows of a TCP connection.
struct TcpState {
  /// The shortest of the last minutes.
  std::uint32_t round_trip_us = 0;
  /// Of now, with what it waits in queues.
  std::uint32_t round_trip_now_us = 0;
  /// As the newest bytes were acknowledged; 0: none were yet.
  std::uint64_t bytes_per_second = 0;
  /// There was no more to send, so the network may let more through; what it was may be long ago.
  bool at_least = false;
  /// Bytes that were acknowledged.
  std::uint64_t acknowledged = 0;
  /// For how long there was something to send, or to be acknowledged.
  std::uint64_t busy_us = 0;
};

/// nullopt for what is no TCP connection, and where the kernel does not tell (before 4.10). Any
/// thread.
std::optional<TcpState> tcp_state_of(int socket);

}  // namespace piracema::net
