#include "coll/mpi/probe/packet_socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>

#include "base/text.h"

namespace piracema::coll::mpi {

namespace {
/// In front of each packet: when it may be seen (emulator), else 0.
constexpr std::size_t stamp_bytes = sizeof(std::int64_t);
}  // namespace

Result<Fd> PacketSocket::open(sockaddr_in& address) {
  Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return Error{Errc::io, with_errno("socket for probes")};
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof any;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&any), &length) != 0) {
    return Error{Errc::io, with_errno("socket for probes")};
  }
  address.sin_port = any.sin_port;
  return socket;
}

PacketSocket::PacketSocket(Fd socket, std::vector<sockaddr_in> peers, Emulator* emulator)
    : socket_(std::move(socket)), peers_(std::move(peers)), emulator_(emulator) {}

void PacketSocket::send(const std::vector<Packet>& packets) {
  for (const Packet& packet : packets) {
    const std::int64_t stamp =
        emulator_ ? emulator_->packet_visible_at(packet.to).count() : std::int64_t{0};
    std::string bytes(reinterpret_cast<const char*>(&stamp), stamp_bytes);
    bytes += packet.bytes;
    ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&peers_[packet.to]), sizeof(sockaddr_in));
  }
}

std::optional<std::span<const char>> PacketSocket::receive() {
  while (true) {
    const ssize_t length = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (length < static_cast<ssize_t>(stamp_bytes)) return std::nullopt;
    std::int64_t stamp = 0;
    std::memcpy(&stamp, buffer_.data(), stamp_bytes);
    const std::span<const char> bytes(buffer_.data() + stamp_bytes,
                                      static_cast<std::size_t>(length) - stamp_bytes);
    if (!emulator_ || Time(stamp) <= now()) return bytes;
    held_.push({Time(stamp), std::string(bytes.begin(), bytes.end())});
  }
}

std::optional<std::string> PacketSocket::held_until(Time now) {
  if (next_held() > now) return std::nullopt;
  std::string bytes = held_.top().bytes;
  held_.pop();
  return bytes;
}

Time PacketSocket::next_held() const {
  return held_.empty() ? Time::max() : held_.top().visible_at;
}

}  // namespace piracema::coll::mpi
