// The packets of a rank's probes and of their guests.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/text.h"
#include "coll/mpi/probe/probe_thread.h"

namespace piracema::coll::mpi {

namespace {
/// In front of each packet: when it may be seen (emulator), else 0.
constexpr std::size_t stamp_bytes = sizeof(std::int64_t);
}  // namespace

Result<Fd> ProbeThread::open(sockaddr_in& address) {
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

void ProbeThread::receive() {
  std::array<char, 65'536> buffer;
  while (true) {
    const ssize_t length = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (length < static_cast<ssize_t>(stamp_bytes)) return;
    std::int64_t stamp = 0;
    std::memcpy(&stamp, buffer.data(), stamp_bytes);
    const std::span<const char> bytes(buffer.data() + stamp_bytes,
                                      static_cast<std::size_t>(length) - stamp_bytes);
    const std::lock_guard lock(mutex_);
    if (emulator_ && Time(stamp) > now()) {
      held_.push({Time(stamp), std::string(bytes.begin(), bytes.end())});
    } else {
      on_datagram(bytes);
    }
  }
}

// From a prober, or somebody's post, which may be for another rank.
void ProbeThread::on_datagram(std::span<const char> bytes) {
  auto letter = post_.open(bytes);
  if (!letter) {
    send(prober_.on_packet(now(), bytes));
  } else if (letter->to != me_) {
    if (auto on = post_.pass_on(bytes)) send({{detours_.first(letter->to), *std::move(on)}});
  } else if (const auto guest = guests_.find(letter->guest); guest != guests_.end()) {
    guest->second->on_packet(letter->from, letter->bytes);
  }
}

// At most 2 % of the time is spent on it.
void ProbeThread::find_detours() {
  const std::uint64_t version = prober_.map().version();
  const Time began = now();
  if (version == detours_version_ || began - detours_at_ < 50 * detours_took_) return;
  detours_ = Detours(prober_.map().table(), me_);
  detours_version_ = version;
  detours_at_ = now();
  detours_took_ = detours_at_ - began;
}

void ProbeThread::send(const std::vector<Packet>& packets) {
  for (const Packet& packet : packets) {
    const std::int64_t stamp =
        emulator_ ? emulator_->packet_visible_at(packet.to).count() : std::int64_t{0};
    std::string bytes(reinterpret_cast<const char*>(&stamp), stamp_bytes);
    bytes += packet.bytes;
    // What cannot be sent is lost, as packets are.
    ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&peers_[packet.to]), sizeof(sockaddr_in));
  }
}

}  // namespace piracema::coll::mpi
