#pragma once

#include <netinet/in.h>
#include <piracema/error.h>

#include <array>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "coll/mpi/probe/emulator.h"
#include "topology/measure/prober.h"

namespace piracema::coll::mpi {

/// Packets of up to 64 KiB between ranks, by UDP: they may be lost, come twice, and overtake each
/// other. One thread at a time.
class PacketSocket {
 public:
  /// Opens a socket; its port is in `address`. Errc::io.
  static Result<Fd> open(sockaddr_in& address);

  /// Of each rank its address. `emulator` may be null; else it outlives this, and packets are seen
  /// when it says.
  PacketSocket(Fd socket, std::vector<sockaddr_in> peers, Emulator* emulator);

  /// Readable when there is something to receive.
  int handle() const { return socket_.get(); }
  /// What cannot be sent is lost, as packets are.
  void send(const std::vector<Packet>& packets);
  /// The next one that has come; nullopt if there is none. Valid until the next call.
  std::optional<std::span<const char>> receive();
  /// The next one of those that were held back until now.
  std::optional<std::string> held_until(Time now);
  /// When there is one more; Time::max(): there is none.
  Time next_held() const;

 private:
  struct Held {
    Time visible_at;
    std::string bytes;
    bool operator<(const Held& other) const { return visible_at > other.visible_at; }
  };

  const Fd socket_;
  const std::vector<sockaddr_in> peers_;
  Emulator* const emulator_;
  std::priority_queue<Held> held_;
  std::array<char, 65'536> buffer_;
};

}  // namespace piracema::coll::mpi
