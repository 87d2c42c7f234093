#include "net/socket/tcp_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <string_view>

namespace piracema::net {

namespace {

// An address of this host is what both ends of a connection within it have.
bool is_within_host(int socket) {
  sockaddr_storage here{}, there{};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &here_size) != 0) return false;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&there), &there_size) != 0) return false;
  if (here.ss_family != there.ss_family) return false;
  if (here.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(here).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(there).sin_addr.s_addr;
  }
  if (here.ss_family != AF_INET6) return false;
  return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(here).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(there).sin6_addr,
                     sizeof(in6_addr)) == 0;
}

}  // namespace

void set_tcp_options(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!is_within_host(socket)) return;
  // Where BBR is the system's choice it paces with timers what never leaves memory, and takes a
  // sender that waits for credits for a slow network. Reno is in every kernel and for everybody.
  constexpr std::string_view unpaced = "reno";
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, unpaced.data(), unpaced.size());
}

}  // namespace piracema::net
