#include "net/session/sealing.h"

#include <algorithm>

namespace piracema::net {

Sealing sealing_for(Reach reach, Sealed sealed) {
  if (sealed == Sealed::nowhere || reach == Reach::local_socket) return Sealing::never;
  const bool wanted = sealed == Sealed::everywhere || reach == Reach::other_host;
  return wanted ? Sealing::required : Sealing::possible;
}

Sealing sealing_as_told(Reach reach) {
  return reach == Reach::other_host ? Sealing::preferred
                                    : sealing_for(reach, Sealed::between_hosts);
}

Result<bool> agree(Sealing ours, Sealing theirs) {
  if (std::min(ours, theirs) != Sealing::never) return std::max(ours, theirs) > Sealing::possible;
  if (ours == Sealing::required) {
    return Error{Errc::refused,
                 "handshake: want a sealed connection to another host, found a peer that sends "
                 "plain (--plain)"};
  }
  if (theirs == Sealing::required) {
    return Error{Errc::refused,
                 "handshake: want a plain connection (--plain), found a peer that wants it sealed"};
  }
  return false;
}

}  // namespace piracema::net
