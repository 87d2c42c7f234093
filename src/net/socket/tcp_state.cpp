#include "net/socket/tcp_state.h"

// The C library's own header has the fields of long ago, and the two cannot be had in one file.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace piracema::net {

std::optional<TcpState> tcp_state_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_busy_time) + sizeof info.tcpi_busy_time) {
    return std::nullopt;
  }
  TcpState state;
  // It is all ones before there was a round trip.
  if (info.tcpi_min_rtt != ~__u32{0}) state.round_trip_us = info.tcpi_min_rtt;
  state.round_trip_now_us = info.tcpi_rtt;
  state.bytes_per_second = info.tcpi_delivery_rate;
  state.at_least = info.tcpi_delivery_rate_app_limited != 0;
  state.acknowledged = info.tcpi_bytes_acked;
  state.busy_us = info.tcpi_busy_time;
  return state;
}

}  // namespace piracema::net
