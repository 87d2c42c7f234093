#include "ckpt/network/overlay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr std::size_t datagram_bytes_max = 65'507;
constexpr int packets_a_turn = 64;
/// Headers of IPv4 and UDP, and the token.
constexpr unsigned overhead_bytes = 20 + 8 + sizeof(OverlayToken);
constexpr unsigned mtu_least = 1280, mtu_most = 60'000;

sockaddr_in host_address(const OverlayPeer& peer) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(peer.host);
  address.sin_port = htons(peer.port);
  return address;
}

const sockaddr* any(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Of an IPv4 packet; 0 for anything else.
std::uint32_t destination_of(Bytes packet) {
  if (packet.size() < 20 || std::to_integer<unsigned>(packet[0]) >> 4 != 4) return 0;
  std::uint32_t address = 0;
  std::memcpy(&address, packet.data() + 16, sizeof address);
  return ntohl(address);
}

}  // namespace

Result<Overlay> Overlay::open(Fd host, const OverlayToken& token) {
  Fd device(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!device) {
    return Error{Errc::config,
                 with_errno("several hosts want /dev/net/tun (modprobe tun): cannot open it")};
  }
  ifreq request{};
  std::strcpy(request.ifr_name, "c0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(device.get(), TUNSETIFF, &request) != 0) {
    return Error{Errc::config, with_errno("network link c0: cannot make it")};
  }
  return Overlay(std::move(device), std::move(host), token);
}

Overlay::Overlay(Fd device, Fd host, const OverlayToken& token)
    : device_(std::move(device)), host_(std::move(host)) {
  room_.resize(datagram_bytes_max);
  std::copy(token.begin(), token.end(), room_.data());
}

void Overlay::set_peers(const std::vector<OverlayPeer>& peers) {
  peers_.clear();
  for (const OverlayPeer& peer : peers) peers_[peer.address] = peer;
}

void Overlay::Held::keep(Bytes packet) {
  if (bytes + packet.size() > held_bytes_max) return;
  bytes += packet.size();
  packets.emplace_back(packet);
}

void Overlay::pass() {
  held_ = false;
  for (const Buffer& datagram : std::exchange(leaving_, {}).packets) send(datagram);
  for (const Buffer& packet : std::exchange(arriving_, {}).packets) deliver(packet);
}

// A network that takes no more may drop a packet; so may we.
void Overlay::send(Bytes datagram) {
  const auto peer = peers_.find(destination_of(datagram.subspan(sizeof(OverlayToken))));
  if (peer == peers_.end()) return;
  const sockaddr_in to = host_address(peer->second);
  (void)::sendto(host_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                 any(to), sizeof to);
}

void Overlay::deliver(Bytes packet) { (void)!::write(device_.get(), packet.data(), packet.size()); }

void Overlay::leave() {
  constexpr std::size_t head = sizeof(OverlayToken);
  for (int i = 0; i < packets_a_turn; ++i) {
    const ssize_t count = ::read(device_.get(), room_.data() + head, room_.size() - head);
    if (count <= 0) return;
    const Bytes datagram = Bytes(room_).first(head + static_cast<std::size_t>(count));
    held_ ? leaving_.keep(datagram) : send(datagram);
  }
}

void Overlay::arrive() {
  constexpr std::size_t head = sizeof(OverlayToken);
  OverlayToken token;
  Buffer room;
  room.resize(datagram_bytes_max);
  for (int i = 0; i < packets_a_turn; ++i) {
    iovec parts[2] = {{token.data(), head}, {room.data(), room.size() - head}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t count = ::recvmsg(host_.get(), &message, MSG_DONTWAIT);
    // A host that is not there is told by ICMP as an error; the next datagram may be a good one.
    if (count < 0 && errno == ECONNREFUSED) continue;
    if (count < 0) return;
    if (static_cast<std::size_t>(count) <= head ||
        std::memcmp(token.data(), room_.data(), head) != 0)
      continue;
    const Bytes packet = Bytes(room).first(static_cast<std::size_t>(count) - head);
    held_ ? arriving_.keep(packet) : deliver(packet);
  }
}

Result<Fd> open_overlay_socket() {
  Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  // Larger than the network's packets: cut into pieces rather than refused.
  const int how = IP_PMTUDISC_DONT, bytes = 4 << 20;
  if (!socket || ::bind(socket.get(), any(address), sizeof address) != 0 ||
      ::setsockopt(socket.get(), IPPROTO_IP, IP_MTU_DISCOVER, &how, sizeof how) != 0) {
    return Error{Errc::io, with_errno("a UDP socket")};
  }
  for (const int name : {SO_RCVBUFFORCE, SO_SNDBUFFORCE}) {
    ::setsockopt(socket.get(), SOL_SOCKET, name, &bytes, sizeof bytes);
  }
  return socket;
}

std::uint16_t port_of(const Fd& socket) {
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
  return ntohs(address.sin_port);
}

unsigned overlay_mtu(const std::vector<OverlayPeer>& peers) {
  unsigned least = mtu_most + overhead_bytes;
  for (const OverlayPeer& peer : peers) {
    const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = host_address(peer);
    int mtu = 0;
    socklen_t bytes = sizeof mtu;
    // The kernel knows the network's packets by the way there, without sending any.
    if (::connect(socket.get(), any(address), sizeof address) == 0 &&
        ::getsockopt(socket.get(), IPPROTO_IP, IP_MTU, &mtu, &bytes) == 0) {
      least = std::min(least, static_cast<unsigned>(mtu));
    }
  }
  return std::max(least - overhead_bytes, mtu_least);
}

}  // namespace piracema::ckpt
