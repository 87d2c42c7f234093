#pragma once

namespace piracema::net {

/// What all our connections have: small messages leave at once (no Nagle), and between processes of
/// one host nothing is paced. Where the system refuses an option the connection is only slower. No
/// effect on sockets that are not TCP's. Any thread.
void set_tcp_options(int socket);

}  // namespace piracema::net
